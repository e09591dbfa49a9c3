/** Characters of a message that are quoted at most: the reader knows it already. */
const QUOTE_MOST = 2_000;

/**
 * The text as a Markdown quotation, truncated if it is long, with an empty line after it to
 * continue in.
 */
export function quoted(text: string): string {
  const whole = text.trim();
  // Never splits a surrogate pair.
  const cut = whole.length > QUOTE_MOST ? `${whole.slice(0, QUOTE_MOST).replace(/[\uD800-\uDBFF]$/, '')}…` : whole;
  return `${cut
    .split(/\r?\n/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')}\n\n`;
}

/** Appends the text as a paragraph of its own. */
export function withParagraph(before: string, text: string): string {
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return before + gap + text;
}
