/** How German sentences are put together from what somebody said. */

/** A quotation that fits in a sentence. */
export const quoted = (text: string, most = 160): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= most ? `„${line}“` : `„${line.slice(0, most).replace(/\s+\S*$/, '')} …“`;
};
/** The same as the end of a sentence. */
export const quotedLast = (text: string): string =>
  /[.!?…]“$/u.test(quoted(text)) ? quoted(text) : `${quoted(text)}.`;
export const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} und ${names.at(-1) ?? ''}`;
export const capital = (text: string): string => text.replace(/^./u, (first) => first.toUpperCase());

/** `Lyra (seat 1), seat 2`, as the relay says it. */
export const seats = (text: string): string => text.replace(/\bseat (\d)/g, 'Platz $1');
