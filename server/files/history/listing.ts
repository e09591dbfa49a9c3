/**
 * What was recorded of a folder: its entries, what is not recorded, and how two recordings differ.
 * Pure.
 *
 * Git never sees a name that a program has chosen. Each name is written in plain ASCII, so that no
 * name can be `.git` or another that git treats in its own way.
 */
import type { Change, NotRecorded } from '../../../src/shared/protocol/endpoints/history.ts';

export interface Recorded {
  /** From the folder on, written as `writtenName` writes names, with `/` between them. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  /** Permission bits; 0 for a link. */
  readonly mode: number;
  /** The git object with the content, or a link's target; '' for a folder. */
  readonly object: string;
  /** Size of a file; 0 for anything else. */
  readonly bytes: number;
  /**
   * Changes with each change of the entry: inode, size, and the times of content and inode. '': the
   * content must be read again.
   */
  readonly stamp: string;
}

/** `entries`: by path. */
export interface Listing {
  readonly entries: ReadonlyMap<string, Recorded>;
  /** Entries that could not be recorded, with the path as it was recorded. */
  readonly notRecorded: readonly Omit<NotRecorded, 'folder'>[];
  /** Number of further ones. */
  readonly moreNotRecorded: number;
}
export const EMPTY: Listing = { entries: new Map(), notRecorded: [], moreNotRecorded: 0 };

/** Whether this path may have been there without having been recorded. */
export function unknownIn({ notRecorded, moreNotRecorded }: Omit<Listing, 'entries'>): (path: string) => boolean {
  if (moreNotRecorded > 0) return () => true;
  const paths = new Set(notRecorded.map(({ path }) => path));
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
      if (paths.has(path.slice(0, end))) return true;
    return false;
  };
}

const PLAIN = /^[\w.+-]$/;
/** Beginnings of names that git treats in its own way, such as `.git`, `.GitModules` or `git~1`. */
const GITS_OWN = /^(?:\.git|git~)/i;
const hex = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;

/** Writes the bytes of a name. Different names are written differently. */
export function writtenName(raw: Buffer): string {
  let written = '';
  for (const byte of raw) {
    const character = String.fromCharCode(byte);
    written += PLAIN.test(character) ? character : hex(byte);
  }
  if (written === '.' || written === '..' || GITS_OWN.test(written)) return hex(raw[0] ?? 0) + written.slice(1);
  return written;
}

const WRITTEN = /^(?:[\w.+-]|%[\da-f]{2})+$/;

/** The bytes of a written name; null: it is none. */
export function rawOf(written: string): Buffer | null {
  if (!WRITTEN.test(written)) return null;
  const raw = Buffer.from(
    written.replaceAll(/%([\da-f]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );
  const isName = !raw.includes(0) && !raw.includes('/') && raw.toString() !== '.' && raw.toString() !== '..';
  return isName && writtenName(raw) === written ? raw : null;
}

/** The path to be read. */
export const shownPathOf = (path: string): string =>
  path
    .split('/')
    .map((name) => (rawOf(name) ?? Buffer.from(name)).toString())
    .join('/');

const OWNER_EXECUTES = 0o100;

export interface Difference {
  readonly path: string;
  readonly change: Change['change'];
  /** Null: there was none. */
  readonly before: Recorded | null;
  /** Null: there is none now. */
  readonly after: Recorded | null;
  /** Null: it was not moved. */
  readonly from: string | null;
}

const isSameContent = (one: Recorded, other: Recorded) => one.kind === other.kind && one.object === other.object;

/** By path. A file that was only moved is one difference, at its new path. */
export function differences(before: Listing, after: Listing): Difference[] {
  const differences: Difference[] = [];
  const removed = new Map<string, Recorded[]>();
  for (const [path, old] of before.entries) {
    if (after.entries.has(path)) continue;
    // Empty files are all alike, so none of them is known to have moved.
    if (old.kind !== 'folder' && old.bytes > 0) removed.set(old.object, [...(removed.get(old.object) ?? []), old]);
  }
  const moved = new Set<string>();
  for (const [path, now] of after.entries) {
    const old = before.entries.get(path) ?? null;
    if (old === null) {
      const source = now.kind === 'folder' || now.bytes === 0 ? undefined : removed.get(now.object)?.shift();
      if (source) moved.add(source.path);
      const from = source?.path ?? null;
      differences.push({ path, change: source ? 'renamed' : 'added', before: source ?? null, after: now, from });
    } else if (!isSameContent(old, now))
      differences.push({ path, change: 'changed', before: old, after: now, from: null });
    else if (old.mode !== now.mode) differences.push({ path, change: 'mode', before: old, after: now, from: null });
  }
  for (const [path, old] of before.entries)
    if (!after.entries.has(path) && !moved.has(path))
      differences.push({ path, change: 'deleted', before: old, after: null, from: null });
  return differences.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** As `differences`, without what may still be there: it is only not recorded any more. */
export function shownDifferences(before: Listing, after: Listing): Difference[] {
  const isUnknown = unknownIn(after);
  return differences(before, after).filter(({ path, change }) => change !== 'deleted' || !isUnknown(path));
}

/** For people. A folder that is there because of the files in it is not named. */
export function changeOf(folder: string, { path, change, before, after, from }: Difference): Change {
  const kind = (after ?? before)?.kind ?? 'file';
  return {
    folder,
    file: path,
    path: shownPathOf(path),
    kind,
    change,
    from: from === null ? null : { file: from, path: shownPathOf(from) },
    bytes: after?.bytes ?? null,
    executable: after?.kind === 'file' ? (after.mode & OWNER_EXECUTES) !== 0 : null,
  };
}

export function countsOf(all: readonly Difference[]): { added: number; changed: number; deleted: number } {
  const count = (...kinds: readonly Change['change'][]) => all.filter(({ change }) => kinds.includes(change)).length;
  return { added: count('added'), changed: count('changed', 'mode', 'renamed'), deleted: count('deleted') };
}
