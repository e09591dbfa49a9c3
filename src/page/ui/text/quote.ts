/** Characters of a message that are quoted at most: whoever answers knows it already. */
const QUOTE_MOST = 2_000;

/**
 * The text as a quotation in Markdown, cut where it is long, with an empty line after it in which
 * one goes on.
 */
export function quoted(text: string): string {
  const whole = text.trim();
  // No half of a pair: what is cut between two halves of a character is none.
  const cut = whole.length > QUOTE_MOST ? `${whole.slice(0, QUOTE_MOST).replace(/[\uD800-\uDBFF]$/, '')}…` : whole;
  return `${cut
    .split(/\r?\n/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')}\n\n`;
}

/** What stands there, and the text behind it, in a paragraph of its own. */
export function withParagraph(before: string, text: string): string {
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return before + gap + text;
}
