/** A long text without its middle: how it begins and how it ends say most of what it is. */

const HIGH = /[\ud800-\udbff]$/;
const LOW = /^[\udc00-\udfff]/;

const cutLine = (count: number) => `\n\n[${count.toLocaleString('en')} characters were left out here]\n\n`;

/** At most about `most` characters of a text, begin and end, with a line between them that says how many are left out. A text that fits is given as it is. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const room = Math.max(0, most - cutLine(text.length).length);
  let head = text.slice(0, Math.ceil(room / 2));
  let tail = text.slice(text.length - Math.floor(room / 2));
  // Half of a pair is no character.
  if (HIGH.test(head)) head = head.slice(0, -1);
  if (LOW.test(tail)) tail = tail.slice(1);
  const cut = `${head}${cutLine(text.length - head.length - tail.length)}${tail}`;
  return cut.length < text.length ? cut : text;
}
