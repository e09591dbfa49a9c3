/** Shortens a long text by cutting its middle. The beginning and the end say most about a text. */
import { restOf, type PartOf } from './quoting.ts';

const HIGH = /[\ud800-\udbff]$/;

const cutLine = (count: number) => `\n\n[${count.toLocaleString('en')} characters were left out here]\n\n`;

/**
 * Keeps about `most` characters of a text: its beginning and its end. A line between them says how
 * many characters are missing. `most` characters of a text: its beginning and its end, with a line
 * between them that says how many characters are missing. A text that fits is returned unchanged.
 *
 * Quotation marks of a quoted line are repeated after the cut. `part` reads from the text; a caller
 * can use it to replace something in it.
 */
export function cutMiddle(text: string, most: number, part: PartOf = (from, to) => text.slice(from, to)): string {
  if (text.length <= most) return part(0, text.length);
  const room = Math.max(0, most - cutLine(text.length).length);
  const headEnd = Math.ceil(room / 2);
  const tailStart = text.length - Math.floor(room / 2);
  let head = part(0, headEnd);
  // Drop half of a surrogate pair.
  if (HIGH.test(head)) head = head.slice(0, -1);
  const tail = restOf(text, tailStart, part);
  const cut = `${head}${cutLine(Math.max(1, text.length - head.length - tail.length))}${tail}`;
  return cut.length < text.length ? cut : part(0, text.length);
}

/** The last `most` characters of a text. `…` stands for what comes before. */
export function endOfText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `…${text.slice(text.length - most + 1).replace(/^[\udc00-\udfff]/, '')}`;
}

/** The first `most` characters of a text. `…` stands for the rest. */
export function beginningOfText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(HIGH, '')}…`;
}
