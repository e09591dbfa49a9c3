/** Files as text: cut at a bound that says where the rest lies, and found in. Pure. */
import { quote } from '../../src/domain/quoting.ts';
import { FILE_TOOL_LIMITS } from './settings.ts';

export interface Part {
  readonly text: string;
  /** The first and last line of it, from 1; 0 where there is none. */
  readonly from: number;
  readonly to: number;
  /** Lines of the whole. */
  readonly lines: number;
  /** Of its one line, which is longer than what is given at once: the character from 1 at which the rest begins, and all of them. Null: no line is cut. */
  readonly cut: { readonly next: number; readonly characters: number } | null;
}

const HALF = /[\ud800-\udbff]$/;

/**
 * Lines from `offset` on, at most `limit` of them and `characters` in all with the marks before them. The first of them is
 * always there, from its character `column` on, and is cut where it is too long.
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
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const taken: string[] = [];
  let size = 0;
  for (const [i, whole] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const line = i === 0 ? whole.slice(column - 1) : whole;
    const marked = quote(line).length + 1;
    if (size + marked > characters) {
      if (taken.length > 0) break;
      // Nothing but breaks has two characters of marks behind each.
      const most = quote(line.slice(0, characters)).length > characters * 2 ? characters / 3 : characters;
      const shown = line.slice(0, most).replace(HALF, '');
      const cut = { next: column + shown.length, characters: whole.length };
      return { text: shown, from: offset, to: offset, lines: lines.length, cut };
    }
    taken.push(line);
    size += marked;
  }
  const none = taken.length === 0;
  return {
    text: taken.join('\n'),
    from: none ? 0 : offset,
    to: none ? 0 : offset + taken.length - 1,
    lines: lines.length,
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

export interface Found {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Each line that has `wanted` in it, at most `most`. Where only a part of it is given, `…` stands for the rest. */
export function linesWith(text: string, wanted: string, ignoreCase: boolean, most: number): readonly Found[] {
  const fold = (each: string) => (ignoreCase ? each.toLowerCase() : each);
  const needle = fold(wanted);
  const found: Found[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const at = fold(line).indexOf(needle);
    if (at < 0) continue;
    // What was looked for is in sight, however long the line.
    const from = Math.max(0, Math.min(at - 60, line.length - FILE_TOOL_LIMITS.line));
    const until = from + FILE_TOOL_LIMITS.line;
    const shown = `${from > 0 ? '…' : ''}${line.slice(from, until)}${until < line.length ? '…' : ''}`;
    found.push({ line: i + 1, text: shown });
    if (found.length >= most) break;
  }
  return found;
}

/** How often `wanted` stands in `text`; those that lie over each other count once. */
export function countOf(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
}

/** `1.2 KB` */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
