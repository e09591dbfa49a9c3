/** How much of what waits is put before an agent at once. */

export interface MailLimits {
  /** Letters of others, at most. */
  readonly count: number;
  /** Characters of everything, at most, where it is more than one letter. */
  readonly characters: number;
}

export const MAIL_LIMITS: MailLimits = { count: 100, characters: 40_000 };

/**
 * All that the person wrote, and of what others wrote the oldest that fit: at least one, so that every letter is read at
 * some time. In the order in which it was given.
 */
export function mailBatch<Letter extends { readonly from: string; readonly text: string }>(waiting: readonly Letter[], { count, characters }: MailLimits): Letter[] {
  let left = characters - waiting.reduce((sum, { from, text }) => (from === 'human' ? sum + text.length : sum), 0);
  let taken = 0;
  let full = false;
  return waiting.filter(({ from, text }) => {
    if (from === 'human') return true;
    left -= text.length;
    full ||= taken >= count || (taken > 0 && left < 0);
    if (!full) taken += 1;
    return !full;
  });
}
