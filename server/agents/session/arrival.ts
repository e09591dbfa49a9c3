/**
 * How an agent comes into a session, woken or hatched: a pure state machine.
 *
 *     called → answering ⇄ retrying
 *                  ↓           ↓
 *                awake   →  leaving
 *
 * - `called`: the agent has a seat, and is not asked yet.
 * - `answering`: it is asked for its first words, and an egg for its name and its soul.
 * - `retrying`: its first try failed, and it waits for the second one.
 * - `awake`: it lives in the session.
 * - `leaving`: it is being put to sleep.
 */
import { checkName } from '../../../src/shared/domain/names.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import { namelessReason, silentReason } from './prompts.ts';

/** What an egg has told of itself. */
interface Egg {
  readonly name: string | null;
  /** Everything that it wrote, and its input to `write_soul`, unchanged. */
  readonly soul: readonly string[];
  /** How often it was asked for its name in words, because its model uses no tools. */
  readonly namesAsked: number;
  /** It had a name and no words about itself, and was asked for them. */
  readonly isSoulAsked: boolean;
}

export interface Arrival {
  readonly state: 'called' | 'answering' | 'retrying' | 'awake' | 'leaving';
  /** Null: the agent is woken. */
  readonly egg: Egg | null;
  readonly tries: number;
  /** It has said something in this try, so the try has no time limit any more. */
  readonly hasSpoken: boolean;
  /** This try was silent for too long. */
  readonly isSilent: boolean;
  /** Why it leaves, or will when its answer has ended. */
  readonly givenUp: AsleepReason | null;
}

/** An answer that has ended. */
export interface EndedAnswer {
  readonly words: readonly string[];
  /** The agent ended it, or was stopped, or reached the limit of one answer. */
  readonly isEnough: boolean;
  /** The session is closing, and ended the answer. */
  readonly isClosing: boolean;
  /** The model uses no tools. */
  readonly isToolless: boolean;
  /** Null: it did not fail. */
  readonly failure: AsleepReason | null;
  /** Another try may succeed. */
  readonly isPassing: boolean;
}

export type ArrivalEvent =
  | { readonly kind: 'ask' | 'speak' | 'time-out' | 'leave' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'write'; readonly text: string }
  | { readonly kind: 'give-up'; readonly reason: AsleepReason }
  | ({ readonly kind: 'answer' } & EndedAnswer);

export interface ArrivalRules {
  /** The person's name. */
  readonly human: string;
  /** The reason of an agent that was silent for too long. */
  readonly silence: AsleepReason;
  /** How often an egg is asked for its name in words. */
  readonly namesAsked: number;
}

/** The next state, and what the session does then. */
interface Step {
  readonly arrival: Arrival;
  readonly effect: 'retry' | 'ask-name' | 'ask-soul' | 'arrive' | 'leave' | null;
}

const MOST_TRIES = 2;

export const called = (hatches: boolean): Arrival => ({
  state: 'called',
  egg: hatches ? { name: null, soul: [], namesAsked: 0, isSoulAsked: false } : null,
  tries: 0,
  hasSpoken: false,
  isSilent: false,
  givenUp: null,
});

/** The agent has neither arrived nor left. */
export const isComing = ({ state }: Arrival): boolean => state !== 'awake' && state !== 'leaving';

const stay = (arrival: Arrival): Step => ({ arrival, effect: null });
const arrive = (arrival: Arrival): Step => ({ arrival: { ...arrival, state: 'awake' }, effect: 'arrive' });
const leave = (arrival: Arrival, givenUp: AsleepReason): Step => ({
  arrival: { ...arrival, state: 'leaving', givenUp },
  effect: 'leave',
});

const mayRetry = ({ tries, isSilent }: Arrival, { isPassing }: EndedAnswer) =>
  tries < MOST_TRIES && (isSilent || isPassing);

/** An agent that is woken is awake with its first word. An answer that ends before has none. */
function wakeAnswered(arrival: Arrival, answer: EndedAnswer, { silence }: ArrivalRules): Step {
  if (answer.isClosing) return stay(arrival);
  if (arrival.givenUp) return leave(arrival, arrival.givenUp);
  if (mayRetry(arrival, answer)) return { arrival: { ...arrival, state: 'retrying' }, effect: 'retry' };
  return leave(arrival, (arrival.isSilent ? silence : answer.failure) ?? silentReason());
}

/** An egg is born when it has a name and a soul. */
function eggAnswered(
  before: Arrival & { readonly egg: Egg },
  answer: EndedAnswer,
  { human, silence, namesAsked }: ArrivalRules,
): Step {
  const named = before.egg.namesAsked > 0 ? nameInWords(answer.words.join('\n'), human) : null;
  const name = before.egg.name ?? named;
  // An answer that is only its name says nothing about it.
  const soul = named === null ? [...before.egg.soul, ...answer.words] : before.egg.soul;
  const egg = { ...before.egg, name, soul };
  const arrival = { ...before, egg };
  const hasSoul = soul.length > 0;
  if (arrival.givenUp) return leave(arrival, arrival.givenUp);
  // That is enough even if the person stopped it or the session is ending.
  if (name !== null && hasSoul && answer.isEnough) return arrive(arrival);
  if (answer.isClosing) return stay(arrival);
  const failure = arrival.isSilent ? silence : answer.failure;
  if (failure && (before.egg.soul.length > 0 || !mayRetry(arrival, answer))) return leave(arrival, failure);
  // The words of the last try stay in its old conversation and not in its soul.
  if (failure)
    return {
      arrival: { ...arrival, state: 'retrying', egg: { ...egg, name: null, soul: [], namesAsked: 0 } },
      effect: 'retry',
    };
  if (name === null && hasSoul && answer.isToolless)
    return egg.namesAsked < namesAsked
      ? { arrival: { ...arrival, egg: { ...egg, namesAsked: egg.namesAsked + 1 } }, effect: 'ask-name' }
      : leave(arrival, namelessReason);
  if (name === null || egg.isSoulAsked) return hasSoul ? stay(arrival) : leave(arrival, silentReason());
  return { arrival: { ...arrival, egg: { ...egg, isSoulAsked: true } }, effect: 'ask-soul' };
}

export function transition(arrival: Arrival, event: ArrivalEvent, rules: ArrivalRules): Step {
  const { egg, givenUp } = arrival;
  if (event.kind === 'leave') return stay({ ...arrival, state: 'leaving' });
  if (!isComing(arrival)) return stay(arrival);
  switch (event.kind) {
    case 'ask':
      return stay({ ...arrival, state: 'answering', tries: arrival.tries + 1, hasSpoken: false, isSilent: false });
    case 'speak':
      return egg || givenUp ? stay({ ...arrival, hasSpoken: true }) : arrive(arrival);
    case 'time-out':
      return stay({ ...arrival, isSilent: true });
    case 'name':
      return stay({ ...arrival, egg: egg && { ...egg, name: event.name } });
    case 'write':
      return stay({ ...arrival, egg: egg && { ...egg, soul: [...egg.soul, event.text] } });
    case 'give-up':
      return stay({ ...arrival, givenUp: givenUp ?? event.reason });
    case 'answer':
      return egg ? eggAnswered({ ...arrival, egg }, event, rules) : wakeAnswered(arrival, event, rules);
    default:
      return event.kind satisfies never;
  }
}

/** Some models think aloud in the same text. */
const THOUGHTS = /<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi;
const BEFORE =
  /^(?:(?:my|the) (?:chosen )?name (?:is|shall be|will be)|name\s*[:=]|i(?:'m| am| choose| would choose|'ll be)(?: called| named)?|call me|choose_name\s*[:(]?|ich hei(?:ß|ss)e|mein name ist)\s*:?\s*/i;
const AROUND = /^[\s"'“”„‚‘’«»*_`#()[\]{}>–—:-]+|[\s"'“”„‚‘’«»*_`()[\]{}.!,;:–—-]+$/gu;
/** Most words of a name. A longer line is a sentence. */
const MOST_WORDS = 3;

/**
 * The name in an answer of a model that uses no tools. Null: the text has none. `human`: the
 * person's name.
 */
export function nameInWords(text: string, human: string): string | null {
  const lines = text.replaceAll(THOUGHTS, '').split('\n');
  for (const line of lines) {
    const bare = line.replaceAll(AROUND, '');
    const name = bare.replace(BEFORE, '').replaceAll(AROUND, '');
    if (name === '' || name.split(/\s+/).length > MOST_WORDS || !/\p{L}/u.test(name)) continue;
    const checked = checkName(name, 'agent', human);
    if (checked.ok) return checked.name;
  }
  return null;
}
