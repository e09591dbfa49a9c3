/** A long text without its middle: how it begins and how it ends say most of what it is. */
import { restOf, type PartOf } from './quoting.ts';

const HIGH = /[\ud800-\udbff]$/;

const cutLine = (count: number) => `\n\n[${count.toLocaleString('en')} characters were left out here]\n\n`;

/**
 * At most about `most` characters of a text, begin and end, with a line between them that says how
 * many are left out. A text that fits is given as it is. What stood as somebody's words stands so
 * behind the line too. `part` reads from the text, for callers that replace something in it.
 */
export function cutMiddle(text: string, most: number, part: PartOf = (from, to) => text.slice(from, to)): string {
  if (text.length <= most) return part(0, text.length);
  const room = Math.max(0, most - cutLine(text.length).length);
  const headEnd = Math.ceil(room / 2);
  const tailStart = text.length - Math.floor(room / 2);
  let head = part(0, headEnd);
  // Half of a pair is no character.
  if (HIGH.test(head)) head = head.slice(0, -1);
  const tail = restOf(text, tailStart, part);
  const cut = `${head}${cutLine(Math.max(1, text.length - head.length - tail.length))}${tail}`;
  return cut.length < text.length ? cut : part(0, text.length);
}

/** The end of a text, at most `most` characters of it; `…` stands for what comes before. */
export function endOfText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `…${text.slice(text.length - most + 1).replace(/^[\udc00-\udfff]/, '')}`;
}

/** The beginning of a text, at most `most` characters of it; `…` stands for the rest. */
export function beginningOfText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(HIGH, '')}…`;
}
