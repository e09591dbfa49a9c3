/** How much of what waits is put before an agent at once. */

export interface MailLimits {
  /** Letters of others, at most. */
  readonly count: number;
  /** Characters of everything, at most, where it is more than one letter. */
  readonly characters: number;
  /** Characters of what the person wrote, at most, where it is more than one message. */
  readonly personCharacters: number;
}

export const MAIL_LIMITS: MailLimits = { count: 100, characters: 40_000, personCharacters: 1_000_000 };

/**
 * Of what the person wrote the oldest that fit, and of what others wrote the oldest that fit beside it: at least one of
 * each, so that everything is read at some time. In the order in which it was given.
 */
export function mailBatch<Letter extends { readonly from: string; readonly text: string }>(
  waiting: readonly Letter[],
  { count, characters, personCharacters }: MailLimits,
): Letter[] {
  const own = new Set(
    oldest(
      waiting.filter(({ from }) => from === 'human'),
      Infinity,
      personCharacters,
    ),
  );
  const left = characters - [...own].reduce((sum, { text }) => sum + text.length, 0);
  const letters = new Set(
    oldest(
      waiting.filter(({ from }) => from !== 'human'),
      count,
      left,
    ),
  );
  return waiting.filter((letter) => own.has(letter) || letters.has(letter));
}

function oldest<Letter extends { readonly text: string }>(
  letters: readonly Letter[],
  count: number,
  characters: number,
): readonly Letter[] {
  let left = characters;
  const end = letters.findIndex(({ text }, i) => i >= count || ((left -= text.length) < 0 && i > 0));
  return end === -1 ? letters : letters.slice(0, end);
}
