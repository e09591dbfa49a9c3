/**
 * Long texts in pieces that are set one by one, a row of the log each. A piece ends only between
 * two blocks, so that a table, a list, a block of code is whole whatever its length. Every piece
 * but the last stays as it is when words are added at the end: an answer that is being written sets
 * only its last piece anew.
 */
import { createKept } from './parsed.ts';
import { definedIn, NOTHING_AROUND, type Around } from './parser.ts';

/** Characters from which on a piece ends at the next place between two blocks. */
const SOFT = 1_500;
/**
 * Characters from which on a piece ends within a block too: between two items of a list, where the
 * next piece goes on with its numbers, two paragraphs of a quotation, or two lines. A table and a
 * block of code are never parted.
 */
const LONG = 8_000;
/** Characters from which on a single paragraph or item is parted too. */
const LONGEST = 40_000;
/** Characters of a piece of plain text. */
const PLAIN = 4_000;
/** Characters of texts whose pieces are known: those of the answers that are being written. */
const KEPT_CHARS = 1_000_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/**
 * A line after an empty one that cannot belong to what stands before it: no list goes on, nothing
 * is indented.
 */
const FRESH = /^(?:[^\s\d\-*+]|[-*+]\S|\d+[^\d.)])/;
const ITEM = /^(?:[-*+]|(\d{1,9})[.)])(?:\s|$)/;
const DELIMITERS = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DETAILS = /<(\/?)details(?=[\s>])/gi;
/** HTML that goes on over empty lines, and where it ends. */
const RAW: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
];

export interface MarkdownPiece {
  readonly text: string;
  /** What it must know of the other pieces. */
  readonly around: Around;
  /** The number with which it goes on with a list; null: it goes on with none. */
  readonly start: number | null;
  /** It is the message's footnotes. */
  readonly notes: boolean;
}

/**
 * Where to part a line that is too long by itself: at its last space, and never within a character.
 */
function cutOf(text: string, most: number): number {
  const space = text.lastIndexOf(' ', most);
  if (space > most / 2) return space + 1;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code <= 0xdbff ? most - 1 : most;
}

/** `text` as it stands, parted at line ends where there are any. */
export function plainPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > PLAIN) {
    const line = rest.lastIndexOf('\n', PLAIN);
    const cut = line > PLAIN / 2 ? line + 1 : cutOf(rest, PLAIN);
    // The line break is in the parting.
    pieces.push(line > PLAIN / 2 ? rest.slice(0, line) : rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}

/** Where a piece lies in its text. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly start: number | null;
}

interface List {
  /** The number of its first item in this piece; null: it has none. */
  readonly start: number | null;
  readonly items: number;
}

/**
 * Where the pieces of `text` lie. `known`: those of its beginning, of which all but the last are
 * final.
 */
function spansOf(text: string, known: readonly Span[]): readonly Span[] {
  const spans = known.slice(0, -1);
  const last = known.at(-1);
  let from = last?.from ?? 0;
  let start = last?.start ?? null;
  /** What ends the block of code, or the HTML, that the line stands in. */
  let within: RegExp | null = null;
  /** `details` that are open. */
  let depth = 0;
  let isEmpty = false;
  let wasEmptyQuote = false;
  let wasText = false;
  let inTable = false;
  /** The list that goes on. */
  let list: List | null = start === null ? null : { start, items: 0 };

  const close = (at: number, goesOnWith: number | null) => {
    spans.push({ from, to: at, start });
    from = at;
    start = goesOnWith;
    if (list) list = { start: goesOnWith, items: 0 };
  };
  const mayEndBefore = (line: string, size: number): boolean => {
    if (size < SOFT || within || depth > 0) return false;
    if (isEmpty && FRESH.test(line)) return true;
    if (size < LONG || inTable) return false;
    if (size >= LONGEST || ITEM.test(line) || (isEmpty && /^\S/.test(line))) return true;
    if (line.startsWith('>')) return wasEmptyQuote;
    // A line that goes on with a paragraph; below one of dashes or equals signs it would be a
    // heading.
    return list === null && wasText && /^[^\s>]/.test(line) && !/^(?:=+|-+)\s*$/.test(line);
  };
  const numberItem = (line: string) => {
    const item = ITEM.exec(line);
    if (item)
      list = list
        ? { ...list, items: list.items + 1 }
        : { start: item[1] === undefined ? null : Number(item[1]), items: 1 };
    else if (/^\S/.test(line) && (isEmpty || /^(?:#|>|`{3}|~{3})/.test(line))) list = null;
  };
  const look = (line: string) => {
    numberItem(line);
    if (line.includes('|') && DELIMITERS.test(line)) inTable = true;
    for (const [, closing] of line.matchAll(DETAILS)) depth = Math.max(0, depth + (closing === '/' ? -1 : 1));
    const mark = FENCE.exec(line)?.[1];
    // A fence of backticks with a further one on its line is code within a sentence.
    if (mark !== undefined && !(mark.startsWith('`') && line.slice(line.indexOf(mark) + mark.length).includes('`')))
      within = new RegExp(`^ {0,3}\\${mark.charAt(0)}{${mark.length},}\\s*$`);
    const raw = RAW.find(([begins]) => begins.test(line))?.[1];
    if (raw && !raw.test(line)) within = raw;
  };

  for (let at = from; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (mayEndBefore(line, at - from)) {
      const goesOn = (/^\d/.test(line) ? list : null) as List | null;
      close(at, goesOn === null || goesOn.start === null ? null : goesOn.start + goesOn.items);
    }
    if (!within) look(line);
    else if ((within as RegExp).test(line)) within = null;
    isEmpty = line.trim() === '';
    if (isEmpty) inTable = false;
    wasEmptyQuote = /^>\s*$/.test(line);
    wasText = !isEmpty && /^[^\s>#|]/.test(line);
    if (within === null && line.length > LONGEST) {
      if (at > from) close(at, null);
      while (end - from > LONGEST) close(from + cutOf(text.slice(from, from + LONGEST), LONGEST), null);
    }
    at = end + 1;
  }
  return [...spans, { from, to: text.length, start }];
}

interface Parted {
  readonly text: string;
  readonly spans: readonly Span[];
}
/** Texts that were parted last: the one that goes on with one of them is parted from there. */
let recent: readonly Parted[] = [];
const RECENT_MOST = 4;

function parted(text: string): Parted {
  const before = recent.find((each) => text.startsWith(each.text));
  const now = before?.text === text ? before : { text, spans: spansOf(text, before?.spans ?? []) };
  recent = [now, ...recent.filter((each) => each !== before)].slice(0, RECENT_MOST);
  return now;
}

const kept = createKept<MarkdownPiece>(KEPT_CHARS);

const pieceOf = (text: string, of: Omit<MarkdownPiece, 'text'>): MarkdownPiece =>
  kept.get(JSON.stringify([of.start, of.notes, of.around.key]) + text, () => ({ text, ...of }));

/** Footnotes as the list that stands at the end of a message. */
const listOf = (notes: readonly string[]): string =>
  notes.map((note, i) => `${i + 1}. ${note.trim().replace(/\n(?=.)/g, '\n    ')}`).join('\n');

/**
 * Markdown in pieces. The same text gives the same objects, so that a piece that stays is not drawn
 * anew.
 */
export function markdownPieces(text: string): readonly MarkdownPiece[] {
  const texts = parted(text).spans.map(({ from, to }) => text.slice(from, to).replace(/\n+$/, ''));
  const { around, notes } = definedIn(texts);
  const pieces = parted(text).spans.map(({ start }, i) => {
    const piece = texts[i] ?? '';
    return pieceOf(piece, { start, notes: false, around: piece.includes('[') ? around : NOTHING_AROUND });
  });
  if (notes.length > 0) pieces.push(pieceOf(listOf(notes), { start: null, notes: true, around }));
  return pieces;
}
