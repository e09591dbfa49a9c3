/** How much of what waits is put before an agent at once. */

export interface MessageBatchLimits {
  /** Messages of others, at most. */
  readonly count: number;
  /** Characters of everything, at most, where it is more than one message. */
  readonly characters: number;
  /** Characters of what the person wrote, at most, where it is more than one message. */
  readonly personCharacters: number;
}

export const MESSAGE_BATCH_LIMITS: MessageBatchLimits = { count: 100, characters: 40_000, personCharacters: 1_000_000 };

/**
 * Of what the person wrote the oldest that fit, and of what others wrote the oldest that fit beside
 * it: at least one of each, so that everything is read at some time. In the order in which it was
 * given.
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
