/**
 * Answers made of numbered words, each answer with a number of its own: `a7w0 a7w1 a7w2 …`.
 * Whatever is shown or stored of one must be a beginning of it, so that a word that is missing,
 * doubled or out of place shows.
 */
import { createRandom } from '../support/random.ts';
import { seatsCalled, type Part, type Script } from '../support/scripted-model.ts';

/** How an answer is spoken. */
export interface Pace {
  readonly leastWords: number;
  readonly mostWords: number;
  /** UTF-16 code units in a piece; words are torn by it. */
  readonly chunk: number;
  /** ms between pieces */
  readonly everyMs: number;
}

/** About two seconds. */
export const SLOW: Pace = { leastWords: 60, mostWords: 200, chunk: 5, everyMs: 8 };
export const QUICK: Pace = { leastWords: 3, mostWords: 8, chunk: 20, everyMs: 1 };

export interface Words {
  /** A team that does as it is told, and says numbered words and nothing else. */
  readonly script: Script;
  /** Everything that was begun, whole, by its number. */
  readonly told: ReadonlyMap<number, string>;
  /** How what is asked from now on is answered. */
  pace(next: Pace): void;
}

export function createWords(seed: number): Words {
  const random = createRandom(seed);
  const told = new Map<number, string>();
  let pace = QUICK;
  function say(order: number): Part {
    const { leastWords, mostWords, chunk, everyMs } = pace;
    const count = leastWords + Math.floor(random() * (mostWords - leastWords + 1));
    const text = Array.from({ length: count }, (_none, i) => `a${order}w${i}`).join(' ');
    told.set(order, text);
    return { say: text, chunk, everyMs };
  }
  return {
    told,
    pace(next) {
      pace = next;
    },
    script({ seat, last, order, results }) {
      if (seat === null && /^\[(WAKE|SUMMON) AGENTS\]/.test(last))
        return [{ call: 'spawn_team', input: { seats: seatsCalled(last) } }];
      if (results.length === 0 && last.startsWith('You are new.'))
        return [say(order), { call: 'choose_name', input: { name: `Name${seat ?? ''}` } }];
      return [say(order)];
    },
  };
}

/** As a person reads it: how lines are broken does not matter. */
export const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The number of the answer that this text is of; null where it is too short to say. */
export function numberOf(text: string): number | null {
  const match = /^a(\d+)w/.exec(text);
  return match ? Number(match[1]) : null;
}

/**
 * What is wrong with a text, as a sentence; null where it is a beginning of something that was
 * said.
 */
export function faultOf(text: string, told: Words['told']): string | null {
  const number = numberOf(text);
  if (number === null) return /^(a\d*)?$/.test(text) ? null : `"${text.slice(0, 60)}" was said by nobody`;
  const whole = told.get(number);
  if (whole === undefined) return `answer ${number} was never given`;
  if (whole.startsWith(text)) return null;
  const at = [...text].findIndex((char, i) => char !== whole[i]);
  return `answer ${number} goes wrong at character ${at}: "…${text.slice(Math.max(0, at - 20), at + 20)}…" instead of "…${whole.slice(Math.max(0, at - 20), at + 20)}…"`;
}
