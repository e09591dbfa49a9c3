/** A long text without its middle: how it begins and how it ends say most of what it is. */
import { restOf } from './quoting.ts';

const HIGH = /[\ud800-\udbff]$/;

const cutLine = (count: number) => `\n\n[${count.toLocaleString('en')} characters were left out here]\n\n`;

/**
 * At most about `most` characters of a text, begin and end, with a line between them that says how many are left out. A text
 * that fits is given as it is. What stood as somebody's words stands so behind the line too.
 */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const room = Math.max(0, most - cutLine(text.length).length);
  let head = text.slice(0, Math.ceil(room / 2));
  // Half of a pair is no character.
  if (HIGH.test(head)) head = head.slice(0, -1);
  const tail = restOf(text, text.length - Math.floor(room / 2));
  const cut = `${head}${cutLine(Math.max(1, text.length - head.length - tail.length))}${tail}`;
  return cut.length < text.length ? cut : text;
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
