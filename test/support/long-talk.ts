/**
 * A long conversation for tests: messages of every length that people and agents write, the same
 * for the same seed.
 */
import type { Doc, MessageDoc } from '../../src/shared/protocol/documents.ts';
import { messageDoc, sessionEnd, sessionStart } from './documents.ts';
import { createRandom } from './random.ts';

const WORDS =
  'the river was low this morning and second pier stood out of it like a tooth I thought what you said about names whether one can be given back nobody remembers first'.split(
    ' ',
  );
/** Messages of one session. */
const SESSION = 100;

/**
 * `[[17]]` stands in the words of the seventeenth message, so that what is on the screen can be
 * told.
 */
export const mark = (n: number): string => `[[${n}]]`;

export interface LongTalk {
  readonly agentId: string;
  readonly count: number;
  readonly seed: number;
  /** Other words for some messages, by number. */
  readonly instead?: ReadonlyMap<number, string>;
}

/** The conversation, oldest first, with the sessions that it lies in. */
export function longTalk({ agentId, count, seed, instead = new Map() }: LongTalk): Doc[] {
  const random = createRandom(seed);
  const below = (n: number) => Math.floor(random() * n);
  const words = (n: number) => Array.from({ length: n }, () => WORDS[below(WORDS.length)] ?? '').join(' ');
  const paragraph = () => `${words(8 + below(50))}, **${words(2)}** and \`${words(1)}\`. ${words(below(30))}`;
  const block = () => {
    switch (below(8)) {
      case 0:
        return Array.from({ length: 2 + below(5) }, () => `- ${words(3 + below(12))}`).join('\n');
      case 1:
        return `\`\`\`js\n${Array.from({ length: 2 + below(8) }, (_none, i) => `const x${i} = ${below(1000)};`).join('\n')}\n\`\`\``;
      case 2:
        return `| a | b |\n|---|---|\n${Array.from({ length: 1 + below(4) }, () => `| ${words(2)} | ${words(3)} |`).join('\n')}`;
      case 3:
        return `> ${words(12)}`;
      default:
        return paragraph();
    }
  };
  const answer = () => Array.from({ length: below(20) === 0 ? 12 + below(20) : 1 + below(4) }, block).join('\n\n');

  return Array.from({ length: count }, (_none, n): Doc[] => {
    const sessionId = `${agentId}-s${Math.floor(n / SESSION)}`;
    const mine = n % 2 === 0;
    const text = instead.get(n) ?? (mine ? words(1 + below(40)) : answer());
    const message: MessageDoc = messageDoc(n, {
      messageId: `${agentId}-${n}`,
      agentId,
      sessionId,
      author: mine ? 'human' : agentId,
      role: mine ? 'user' : 'assistant',
      blocks: [{ kind: 'text', text: `${mark(n)} ${text}` }],
    });
    const begins = n % SESSION === 0;
    const ends = n % SESSION === SESSION - 1 || n === count - 1;
    return [...(begins ? [sessionStart(n, sessionId)] : []), message, ...(ends ? [sessionEnd(n, sessionId)] : [])];
  }).flat();
}
