/** Files as text: cut at a limit that tells where the rest is, and searched. Pure. */
import { quote } from '../../../src/shared/domain/quoting.ts';
import { createPace } from '../../platform/pace.ts';
import { FILE_TOOL_LIMITS } from './settings.ts';

// Finds one text in another in linear time (Knuth–Morris–Pratt). The engine's own search takes the
// product of both lengths at worst. An agent that was talked into it could then block the relay for
// hours with one file and one call.

/** Characters that are searched in one step. */
const STEP_CHARS = 65_536;

/**
 * The failure function: for each prefix of `searchText`, the length of its longest proper prefix
 * that is also its suffix.
 */
function fallbacksOf(searchText: string): Uint32Array {
  const back = new Uint32Array(searchText.length + 1);
  let length = 0;
  for (let i = 1; i < searchText.length; i++) {
    const code = searchText.charCodeAt(i);
    while (length > 0 && searchText.charCodeAt(length) !== code) length = back[length] ?? 0;
    if (searchText.charCodeAt(length) === code) length += 1;
    back[i + 1] = length;
  }
  return back;
}

/**
 * The positions of `searchText`, in order. Each result holds those of one step. Overlapping matches
 * count once. `searchText` has at least one character.
 */
async function* placesIn(text: string, searchText: string): AsyncGenerator<readonly number[], void, undefined> {
  const back = fallbacksOf(searchText);
  const pace = createPace();
  let length = 0;
  for (let from = 0; from < text.length; from += STEP_CHARS) {
    await pace();
    const places: number[] = [];
    for (let i = from; i < Math.min(text.length, from + STEP_CHARS); i++) {
      const code = text.charCodeAt(i);
      while (length > 0 && searchText.charCodeAt(length) !== code) length = back[length] ?? 0;
      if (searchText.charCodeAt(length) === code) length += 1;
      if (length < searchText.length) continue;
      places.push(i + 1 - length);
      length = 0;
    }
    if (places.length > 0) yield places;
  }
}

interface Part {
  readonly text: string;
  /** The first and last line of it, from 1; 0 where there is none. */
  readonly from: number;
  readonly to: number;
  /** Lines of the whole text. */
  readonly lines: number;
  /**
   * For a single line that exceeds the limit: the position from 1 at which the rest begins, and the
   * line's length. Null: no line is cut.
   */
  readonly cut: { readonly next: number; readonly characters: number } | null;
}

const HALF = /[\ud800-\udbff]$/;
const NEWLINE = 0x0a;

/** Number of line breaks in a part of a text. */
function breaksIn(text: string, from: number, to: number): number {
  let breaks = 0;
  for (let i = from; i < to; i++) if (text.charCodeAt(i) === NEWLINE) breaks += 1;
  return breaks;
}

/** End of the line that continues at `from`. */
const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
};

/** Start of a line, counted from 1. Past the end where there is no such line. */
function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let nth = 1; nth < line; nth++) {
    while (at < text.length && text.charCodeAt(at) !== NEWLINE) at++;
    if (at >= text.length) return text.length + 1;
    at++;
  }
  return at;
}

/**
 * Lines from `offset` on, at most `limit` of them and at most `characters` in total with their
 * prefixes. The first line is always included, from its position `column` on, and is cut where it
 * is too long.
 */
export function partOf(
  text: string,
  {
    offset,
    limit,
    column = 1,
    characters = FILE_TOOL_LIMITS.characters,
  }: { offset: number; limit: number; column?: number; characters?: number },
): Part {
  // The final line break begins no further line.
  const length = text.endsWith('\n') ? text.length - 1 : text.length;
  const lines = text === '' ? 0 : breaksIn(text, 0, length) + 1;
  const taken: string[] = [];
  let size = 0;
  const first = lines === 0 ? 1 : startOfLine(text, offset);
  let at = first;
  while (at <= length && taken.length < limit) {
    const end = Math.min(length, endOfLine(text, at));
    const start = at === first ? Math.min(end, at + column - 1) : at;
    // A line that is too long is read only as far as needed to know that.
    const line = text.slice(start, Math.min(end, start + characters + 1));
    const marked = quote(line).length + 1;
    if (size + marked > characters) {
      if (taken.length > 0) break;
      // In a line of nothing but breaks, each one is followed by two characters of marks.
      const most = quote(line.slice(0, characters)).length > characters * 2 ? characters / 3 : characters;
      const shown = line.slice(0, most).replace(HALF, '');
      const cut = { next: column + shown.length, characters: end - at };
      return { text: shown, from: offset, to: offset, lines, cut };
    }
    taken.push(line);
    size += marked;
    at = end + 1;
  }
  const none = taken.length === 0;
  return {
    text: taken.join('\n'),
    from: none ? 0 : offset,
    to: none ? 0 : offset + taken.length - 1,
    lines,
    cut: null,
  };
}

/** As many of these lines, from the first on, as fit into one result with their prefixes. */
export function linesThatFit(
  lines: readonly string[],
  characters: number = FILE_TOOL_LIMITS.characters,
): readonly string[] {
  let size = 0;
  const beyond = lines.findIndex((line) => (size += quote(line).length + 1) > characters);
  return beyond < 0 ? lines : lines.slice(0, beyond);
}

interface Found {
  /** Line number, from 1. */
  readonly line: number;
  readonly text: string;
}

/** In lower case, one character per character. `İ`, which has two in lower case, becomes one. */
const folded = (text: string) => text.replaceAll('İ', 'i').toLowerCase();

/**
 * Each line that contains `searchText`, at most `most`. A match never spans lines. In a shortened
 * line `…` marks what is left out.
 */
export async function linesWith(
  text: string,
  searchText: string,
  ignoreCase: boolean,
  most: number,
): Promise<readonly Found[]> {
  const lines: Found[] = [];
  if (searchText.includes('\n')) return lines;
  /** The last matching line: its number and its end. */
  let line = 1;
  let counted = 0;
  let end = -1;
  const fold = ignoreCase ? folded : (each: string) => each;
  for await (const places of placesIn(fold(text), fold(searchText))) {
    for (const place of places) {
      if (place <= end) continue;
      line += breaksIn(text, counted, place);
      counted = place;
      end = endOfLine(text, place);
      const start = text.lastIndexOf('\n', place - 1) + 1;
      // The match is visible, however long the line is.
      const from = start + Math.max(0, Math.min(place - start - 60, end - start - FILE_TOOL_LIMITS.line));
      const until = Math.min(end, from + FILE_TOOL_LIMITS.line);
      const shown = `${from > start ? '…' : ''}${text.slice(from, until)}${until < end ? '…' : ''}`;
      lines.push({ line, text: shown });
      if (lines.length >= most) return lines;
    }
  }
  return lines;
}

/** Number of matches of `searchText`. Overlapping ones count once. */
export async function countOf(text: string, searchText: string): Promise<number> {
  let count = 0;
  for await (const places of placesIn(text, searchText)) count += places.length;
  return count;
}

/** The text with each match of `searchText` replaced. */
export async function replacedIn(text: string, searchText: string, by: string): Promise<string> {
  const parts: string[] = [];
  let at = 0;
  for await (const places of placesIn(text, searchText)) {
    // Joined step by step: joining millions of pieces at the end would block the relay.
    const step: string[] = [];
    for (const place of places) {
      step.push(text.slice(at, place), by);
      at = place + searchText.length;
    }
    parts.push(step.join(''));
  }
  return parts.join('') + text.slice(at);
}

/** `1.2 KB` */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
