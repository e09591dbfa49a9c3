/** Files as text: cut at a bound that says where the rest lies, and found in. Pure. */
import { quote } from '../../../src/shared/domain/quoting.ts';
import { createPace } from '../../platform/pace.ts';
import { FILE_TOOL_LIMITS } from './settings.ts';

// Where a text stands in another, in a time that grows with their lengths alone
// (Knuth–Morris–Pratt). The search of the engine takes their product at worst: an agent that was
// talked into it would hold the relay for hours with one file and one call.

/** Characters that are looked through in one step. */
const STEP_CHARS = 65_536;

/**
 * By length of a beginning of `wanted`: how long the longest beginning is with which it ends too,
 * itself aside.
 */
function fallbacksOf(wanted: string): Uint32Array {
  const back = new Uint32Array(wanted.length + 1);
  let length = 0;
  for (let i = 1; i < wanted.length; i++) {
    const code = wanted.charCodeAt(i);
    while (length > 0 && wanted.charCodeAt(length) !== code) length = back[length] ?? 0;
    if (wanted.charCodeAt(length) === code) length += 1;
    back[i + 1] = length;
  }
  return back;
}

/**
 * The places at which `wanted` begins, in order, as many at once as one step has found. Those that
 * lie over each other count once. `wanted` has a character at least.
 */
async function* placesIn(text: string, wanted: string): AsyncGenerator<readonly number[], void, undefined> {
  const back = fallbacksOf(wanted);
  const pace = createPace();
  let length = 0;
  for (let from = 0; from < text.length; from += STEP_CHARS) {
    await pace();
    const found: number[] = [];
    for (let i = from; i < Math.min(text.length, from + STEP_CHARS); i++) {
      const code = text.charCodeAt(i);
      while (length > 0 && wanted.charCodeAt(length) !== code) length = back[length] ?? 0;
      if (wanted.charCodeAt(length) === code) length += 1;
      if (length < wanted.length) continue;
      found.push(i + 1 - length);
      length = 0;
    }
    if (found.length > 0) yield found;
  }
}

interface Part {
  readonly text: string;
  /** The first and last line of it, from 1; 0 where there is none. */
  readonly from: number;
  readonly to: number;
  /** Lines of the whole. */
  readonly lines: number;
  /**
   * Of its one line, which is longer than what is given at once: the character from 1 at which the
   * rest begins, and all of them. Null: no line is cut.
   */
  readonly cut: { readonly next: number; readonly characters: number } | null;
}

const HALF = /[\ud800-\udbff]$/;
const NEWLINE = 0x0a;

/** How many line ends there are in a part of a text. */
function breaksIn(text: string, from: number, to: number): number {
  let breaks = 0;
  for (let i = from; i < to; i++) if (text.charCodeAt(i) === NEWLINE) breaks += 1;
  return breaks;
}

/** Where the line ends that goes on at `from`. */
const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
};

/** Where a line begins, counted from 1; behind the end where there is no such line. */
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
 * Lines from `offset` on, at most `limit` of them and `characters` in all with the marks before
 * them. The first of them is always there, from its character `column` on, and is cut where it is
 * too long.
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
  // The end of the last line begins no other.
  const length = text.endsWith('\n') ? text.length - 1 : text.length;
  const lines = text === '' ? 0 : breaksIn(text, 0, length) + 1;
  const taken: string[] = [];
  let size = 0;
  const first = lines === 0 ? 1 : startOfLine(text, offset);
  let at = first;
  while (at <= length && taken.length < limit) {
    const end = Math.min(length, endOfLine(text, at));
    const start = at === first ? Math.min(end, at + column - 1) : at;
    // Of a line that is too long no more is looked at than shows that it is.
    const line = text.slice(start, Math.min(end, start + characters + 1));
    const marked = quote(line).length + 1;
    if (size + marked > characters) {
      if (taken.length > 0) break;
      // Nothing but breaks has two characters of marks behind each.
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

/** As many of these lines, from the first on, as are given at once with the marks before them. */
export function linesThatFit(
  lines: readonly string[],
  characters: number = FILE_TOOL_LIMITS.characters,
): readonly string[] {
  let size = 0;
  const beyond = lines.findIndex((line) => (size += quote(line).length + 1) > characters);
  return beyond < 0 ? lines : lines.slice(0, beyond);
}

interface Found {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * In small letters, character by character: the one that two stand for in small letters is one too.
 */
const folded = (text: string) => text.replaceAll('İ', 'i').toLowerCase();

/**
 * Each line that has `wanted` in it, at most `most`. No line has what goes over its end. Where only
 * a part of it is given, `…` stands for the rest.
 */
export async function linesWith(
  text: string,
  wanted: string,
  ignoreCase: boolean,
  most: number,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  if (wanted.includes('\n')) return found;
  /** Of the line that was found last: its number, and where it ends. */
  let line = 1;
  let counted = 0;
  let end = -1;
  const fold = ignoreCase ? folded : (each: string) => each;
  for await (const places of placesIn(fold(text), fold(wanted))) {
    for (const place of places) {
      if (place <= end) continue;
      line += breaksIn(text, counted, place);
      counted = place;
      end = endOfLine(text, place);
      const start = text.lastIndexOf('\n', place - 1) + 1;
      // What was looked for is in sight, however long the line.
      const from = start + Math.max(0, Math.min(place - start - 60, end - start - FILE_TOOL_LIMITS.line));
      const until = Math.min(end, from + FILE_TOOL_LIMITS.line);
      const shown = `${from > start ? '…' : ''}${text.slice(from, until)}${until < end ? '…' : ''}`;
      found.push({ line, text: shown });
      if (found.length >= most) return found;
    }
  }
  return found;
}

/** How often `wanted` stands in a text; those that lie over each other count once. */
export async function countOf(text: string, wanted: string): Promise<number> {
  let count = 0;
  for await (const places of placesIn(text, wanted)) count += places.length;
  return count;
}

/** The text with another in each place of `wanted`. */
export async function replacedIn(text: string, wanted: string, by: string): Promise<string> {
  const parts: string[] = [];
  let at = 0;
  for await (const places of placesIn(text, wanted)) {
    // Joined step by step: millions of pieces at the end would hold everybody up.
    const step: string[] = [];
    for (const place of places) {
      step.push(text.slice(at, place), by);
      at = place + wanted.length;
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
