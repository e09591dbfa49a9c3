/** Comments on lines of a diff: where they stand in it, and those that are not sent yet. */
import { z } from 'zod';
import type { TaskId } from '../../../shared/domain/ids.ts';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import {
  LINE_COMMENT_LIMITS,
  type LineComment,
  lineCommentSchema,
  type ShownLineComment,
} from '../../../shared/protocol/line-comments.ts';
import type { Device } from '../../state/ports.ts';
import { type PatchLine, readPatch } from './patch.ts';

type File = Pick<Diff['files'][number], 'path' | 'before'>;
type Side = LineComment['side'];

const QUOTED = LINE_COMMENT_LIMITS.quoted;

// Each draft has a key of its own, so that two tabs do not overwrite each other's.

/** The text may be empty while it is typed. `time`: when it was begun. */
const draftSchema = lineCommentSchema.extend({ text: z.string().max(LINE_COMMENT_LIMITS.text) });
export type LineDraft = z.infer<typeof draftSchema>;

const prefixOf = (taskId: TaskId) => `roost-line-draft:${taskId}:`;

/** Oldest first. */
export function readLineDrafts(browser: Device['browser'], taskId: TaskId): readonly LineDraft[] {
  return browser
    .keys(prefixOf(taskId))
    .flatMap((key) => {
      try {
        const read = draftSchema.safeParse(JSON.parse(browser.read(key) ?? 'null'));
        return read.success ? [read.data] : [];
      } catch {
        return [];
      }
    })
    .toSorted((a, b) => a.time - b.time);
}
/** False: the browser has no room for it. */
export const keepLineDraft = (browser: Device['browser'], taskId: TaskId, draft: LineDraft): boolean =>
  browser.write(prefixOf(taskId) + draft.commentId, JSON.stringify(draft));
export const dropLineDraft = (browser: Device['browser'], taskId: TaskId, commentId: string): void =>
  void browser.write(prefixOf(taskId) + commentId, '');

/** A line of a diff that can be commented on. */
export type Anchor = Pick<LineComment, 'path' | 'side' | 'line' | 'commit' | 'quoted'>;

/** null: it is no line of the file. */
export function anchorOf(
  { base, head }: Pick<Diff, 'base' | 'head'>,
  { path, before }: File,
  line: PatchLine,
): Anchor | null {
  const quoted = line.text.slice(0, QUOTED);
  if (line.after !== null) return { path, side: 'after', line: line.after, commit: head, quoted };
  if (line.before !== null) return { path: before ?? path, side: 'before', line: line.before, commit: base, quoted };
  return null;
}

/** Sent: `now` comes from the relay. A draft stands at its line as far as the page can tell. */
export type LineNote =
  | { readonly kind: 'sent'; readonly comment: ShownLineComment }
  | { readonly kind: 'draft'; readonly comment: LineDraft };

/** Where a file has no patch that is shown: its notes are at this row. */
export const NO_ROW = -1;

export interface PlacedNotes {
  /** The notes at each row of each file, by path and number of the row. */
  readonly at: ReadonlyMap<string, ReadonlyMap<number, readonly LineNote[]>>;
  /** Their line is gone or has changed. */
  readonly outdated: readonly LineNote[];
  /** Their line is there, in a file that the diff does not show. */
  readonly elsewhere: readonly LineNote[];
}

const onSide = (line: PatchLine, side: Side) => (side === 'before' ? line.before : line.after);

/** The row of this line, or the last row before it where the diff leaves the line out. */
function rowAtLine(rows: readonly PatchLine[], side: Side, line: number): number {
  const exact = rows.findIndex((row) => onSide(row, side) === line);
  if (exact >= 0) return exact;
  return Math.max(
    0,
    rows.findLastIndex((row) => (onSide(row, side) ?? Infinity) < line),
  );
}

/** The row of a draft. null: its line is gone. `now`: the commit that the diff shows. */
function rowOfDraft({ side, line, commit, quoted }: LineDraft, rows: readonly PatchLine[], now: string): number | null {
  if (commit === now) return rowAtLine(rows, side, line);
  let nearest: number | null = null;
  let distance = Infinity;
  for (const [at, row] of rows.entries()) {
    const number = onSide(row, side);
    if (number === null || row.text.slice(0, QUOTED) !== quoted || Math.abs(number - line) >= distance) continue;
    [nearest, distance] = [at, Math.abs(number - line)];
  }
  return nearest;
}

export function placeNotes(diff: Diff, drafts: readonly LineDraft[]): PlacedNotes {
  const rows = new Map<string, readonly PatchLine[]>();
  const at = new Map<string, Map<number, LineNote[]>>();
  const outdated: LineNote[] = [];
  const elsewhere: LineNote[] = [];
  const fileOf = (path: string, side: Side) =>
    diff.files.find((file) => (side === 'before' ? (file.before ?? file.path) : file.path) === path);
  function put(note: LineNote, path: string, rowIn: (lines: readonly PatchLine[]) => number | null): void {
    const file = fileOf(path, note.comment.side);
    if (!file) return void elsewhere.push(note);
    const lines = file.patch === null ? [] : (rows.get(file.path) ?? readPatch(file.patch));
    rows.set(file.path, lines);
    const row = lines.length === 0 ? NO_ROW : rowIn(lines);
    if (row === null) return void outdated.push(note);
    const own = at.get(file.path) ?? new Map<number, LineNote[]>();
    at.set(file.path, own);
    own.set(row, [...(own.get(row) ?? []), note]);
  }
  for (const comment of diff.comments) {
    const { now, side } = comment;
    const note = { kind: 'sent', comment } as const;
    if (now === null) outdated.push(note);
    else put(note, now.path, (lines) => rowAtLine(lines, side, now.line));
  }
  for (const comment of drafts)
    put({ kind: 'draft', comment }, comment.path, (lines) =>
      rowOfDraft(comment, lines, comment.side === 'before' ? diff.base : diff.head),
    );
  return { at, outdated, elsewhere };
}
