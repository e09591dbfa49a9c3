/** How many waiting messages an agent receives at once. */

export interface MessageBatchLimits {
  /** Maximum number of messages that are not the person's. */
  readonly count: number;
  /** Maximum number of characters in total. A single message may exceed it. */
  readonly characters: number;
  /** Maximum number of characters of the person's messages. A single message may exceed it. */
  readonly personCharacters: number;
}

export const MESSAGE_BATCH_LIMITS: MessageBatchLimits = { count: 100, characters: 40_000, personCharacters: 1_000_000 };

/**
 * Selects the oldest messages of the person that fit, and the oldest messages of others that fit
 * beside them.
 *
 * At least one of each is selected, so that every message is eventually read. The input order is
 * preserved.
 */
export function messageBatch<Message extends { readonly from: string; readonly text: string }>(
  waiting: readonly Message[],
  { count, characters, personCharacters }: MessageBatchLimits,
): Message[] {
  const own = new Set(
    oldest(
      waiting.filter(({ from }) => from === 'human'),
      Infinity,
      personCharacters,
    ),
  );
  const left = characters - [...own].reduce((sum, { text }) => sum + text.length, 0);
  const messages = new Set(
    oldest(
      waiting.filter(({ from }) => from !== 'human'),
      count,
      left,
    ),
  );
  return waiting.filter((message) => own.has(message) || messages.has(message));
}

function oldest<Message extends { readonly text: string }>(
  messages: readonly Message[],
  count: number,
  characters: number,
): readonly Message[] {
  let left = characters;
  const end = messages.findIndex(({ text }, i) => i >= count || ((left -= text.length) < 0 && i > 0));
  return end === -1 ? messages : messages.slice(0, end);
}
