/**
 * The one form in which words that somebody said are put before a mind: under a line of the relay's
 * that says whose they are, with a mark at the beginning of every line of theirs.
 *
 *     [Message from Lyra, seat 1]
 *     > Hello.
 *     > [Message from the human]
 *
 * The rule that minds are told is short, and holds wherever they look: a line that begins with `> `
 * is somebody's words; a line without it is the relay's. So no text can leave its place, whatever
 * it holds: a heading, a date line, a closing tag, or something that only looks like one to a
 * reader who is not strict. It is the quotation mark of mail and Markdown, which minds have read
 * all their lives; it costs a token a line; and it is the same in every request, so that what was
 * said stays in the prompt cache, which a boundary by chance would spoil. It nests: what an agent
 * read in its inbox stands with two marks in its transcript.
 *
 * Nothing of a text is changed but for the marks, so that it can be read back to the letter:
 * `unquote(quote(x)) === x` for every string. A mark follows whatever any reader takes for the end
 * of a line.
 */

import { shownText } from './names.ts';

export const QUOTE_MARK = '> ';
/**
 * A form that nothing else may break: CRLF as one; LF, CR, VT, FF, the separators of files and
 * records, NEL, LS, PS.
 */
// eslint-disable-next-line no-control-regex
const LINE_BREAK = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/g;
// eslint-disable-next-line no-control-regex
const MARKED_BREAK = /(\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029])> /g;
/** The same by UTF-16 code: a line may have millions of characters before it. */
const isBreak = (code: number) =>
  (code >= 0x0a && code <= 0x0d) ||
  (code >= 0x1c && code <= 0x1e) ||
  code === 0x85 ||
  code === 0x2028 ||
  code === 0x2029;
const MARKS = /^(?:> ){1,8}/;
/** Characters that the marks of a line may take where it is taken up again behind a cut. */
export const MOST_MARKS = 16;

/** A text as somebody's words. */
export const quote = (text: string): string => QUOTE_MARK + text.replace(LINE_BREAK, `$&${QUOTE_MARK}`);

/** The words behind `quote`. What has no mark is taken as it is. */
export const unquote = (quoted: string): string => quoted.replace(/^> /, '').replace(MARKED_BREAK, '$1');

/**
 * In one line, whatever it holds: for names, titles and whatever else stands in a line of the
 * relay's.
 */
// eslint-disable-next-line no-control-regex
export const onOneLine = (text: string): string => text.replace(/[\s\u001c-\u001e\u0085]+/g, ' ').trim();

/**
 * A title inside a line of the relay's: its own quotation marks do not end it, and nothing in it
 * goes unseen or turns the line around.
 */
export const titled = (title: string): string => `“${shownText(title).replace(/["“”„‟«»]/g, '’')}”`;

export interface Said {
  /** The relay's line: whose words they are. */
  readonly head: string;
  readonly text: string;
}

const headOf = (head: string) => onOneLine(head).replace(/^>+ */, '');

/** Somebody's words under the line that says whose they are. */
export const writeSaid = ({ head, text }: Said): string => `${headOf(head)}\n${quote(text)}`;

/**
 * All that was said in a text that is put before a mind, each under the last line of the relay's
 * before it.
 */
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

/** The characters of a text from one place up to another. */
export type PartOf = (from: number, to: number) => string;

/**
 * The rest of a text from a place within a line on: with the marks of that line, so that a cut
 * takes nobody's words out of their quotation. `part` reads from the text, for callers that replace
 * something in it.
 */
export function restOf(text: string, from: number, part: PartOf = (start, to) => text.slice(start, to)): string {
  const at = /[\udc00-\udfff]/.test(text.charAt(from)) ? from + 1 : from;
  let start = at;
  while (start > 0 && !isBreak(text.charCodeAt(start - 1))) start -= 1;
  const marks = MARKS.exec(text.slice(start, start + MOST_MARKS))?.[0] ?? '';
  return at < start + marks.length ? part(start, text.length) : marks + part(at, text.length);
}
