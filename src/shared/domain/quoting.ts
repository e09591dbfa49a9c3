/**
 * The only format in which quoted text is shown to a model. A heading of the relay names the
 * author. Every line of the text begins with a mark.
 *
 *     [Message from Lyra, seat 1]
 *     > Hello.
 *     > [Message from the human]
 *
 * Models are told one short rule that holds everywhere. A line that begins with `> ` is quoted, and
 * a line without it is the relay's. No text can escape its quotation, whatever it contains: a
 * heading, a date line, a closing tag, or something that only resembles one. Mail and Markdown use
 * the same mark, so models know it well. It costs one token per line. It is the same in every
 * request, so quoted text stays in the prompt cache, which a random boundary would invalidate. It
 * nests: a message that an agent read in its inbox has two marks in its transcript.
 *
 * Quoting only adds marks, so it is reversible: `unquote(quote(x)) === x` for every string. A mark
 * follows every character sequence that any reader takes for a line end.
 */

import { shownText } from './names.ts';

export const QUOTE_MARK = '> ';
/**
 * All line ends: CRLF counts as one; LF, CR, VT, FF, the file, group and record separators, NEL,
 * LS, PS.
 */
// eslint-disable-next-line no-control-regex
const LINE_BREAK = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/g;
// eslint-disable-next-line no-control-regex
const MARKED_BREAK = /(\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029])> /g;
/** The same by UTF-16 code unit, because a line may have millions of characters before it. */
const isBreak = (code: number) =>
  (code >= 0x0a && code <= 0x0d) ||
  (code >= 0x1c && code <= 0x1e) ||
  code === 0x85 ||
  code === 0x2028 ||
  code === 0x2029;
const MARKS = /^(?:> ){1,8}/;
/** Maximum characters of the marks of a line that are repeated after a cut. */
export const MOST_MARKS = 16;

/** Quotes a text. */
export const quote = (text: string): string => QUOTE_MARK + text.replace(LINE_BREAK, `$&${QUOTE_MARK}`);

/** Reverses `quote`. Lines without a mark are unchanged. */
export const unquote = (quoted: string): string => quoted.replace(/^> /, '').replace(MARKED_BREAK, '$1');

/** Puts a text on one line, for names, titles and other values in a line of the relay. */
// eslint-disable-next-line no-control-regex
export const onOneLine = (text: string): string => text.replace(/[\s\u001c-\u001e\u0085]+/g, ' ').trim();

/**
 * A title inside a line of the relay. Its own quotation marks cannot end it, and it has no
 * invisible characters and none that change the text direction.
 */
export const titled = (title: string): string => `“${shownText(title).replace(/["“”„‟«»]/g, '’')}”`;

export interface Said {
  /** The relay's line: it names the author. */
  readonly head: string;
  readonly text: string;
}

const headOf = (head: string) => onOneLine(head).replace(/^>+ */, '');

/** Quoted text under the line that names its author. */
export const writeSaid = ({ head, text }: Said): string => `${headOf(head)}\n${quote(text)}`;

/** All quoted texts in a prompt, each with the relay's last line before it. */
export function readSaid(written: string): Said[] {
  const all: { head: string; lines: string[] }[] = [];
  let head = '';
  let open: string[] | null = null;
  for (const line of written.split('\n')) {
    if (line.startsWith(QUOTE_MARK)) {
      if (!open) all.push({ head, lines: (open = []) });
      open.push(line);
    } else {
      head = line;
      open = null;
    }
  }
  return all.map((said) => ({ head: said.head, text: unquote(said.lines.join('\n')) }));
}

/** Returns the characters of a text between two positions. */
export type PartOf = (from: number, to: number) => string;

/**
 * The rest of a text from a position on. If the position is inside a quoted line, the marks of that
 * line are repeated, so that the text stays quoted.
 *
 * `part` reads from the text; a caller can use it to replace something in it.
 */
export function restOf(text: string, from: number, part: PartOf = (start, to) => text.slice(start, to)): string {
  const at = /[\udc00-\udfff]/.test(text.charAt(from)) ? from + 1 : from;
  let start = at;
  while (start > 0 && !isBreak(text.charCodeAt(start - 1))) start -= 1;
  const marks = MARKS.exec(text.slice(start, start + MOST_MARKS))?.[0] ?? '';
  return at < start + marks.length ? part(start, text.length) : marks + part(at, text.length);
}
