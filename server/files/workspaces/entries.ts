/**
 * The entries of an open folder and below it. Another program may have created them with any name.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readdir, readlink } from 'node:fs/promises';
import { codeOf } from '../../platform/errors.ts';
import { itself, NO_LINKS, type OpenedFile, openFileIn, type OpenFolder, placeOf, step } from './open-folder.ts';

export interface Entry {
  /** The name as text. Bytes that are not text are replaced. */
  readonly name: string;
  /** `link`: not followed. `other`: a pipe, a socket, a device. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Size of a file; else 0. */
  readonly bytes: number;
  /** ms since the epoch. */
  readonly changedAt: number;
}
/** An entry as it was found in its folder. `raw`: the bytes of its name. */
interface FoundEntry extends Entry {
  readonly raw: Buffer;
  /**
   * Changes with each write, rename or change of permissions: inode, size, and the times of content
   * and of inode.
   */
  readonly stamp: string;
}
/** An entry below a folder, with its path in the workspace. */
export interface EntryBelow extends FoundEntry {
  readonly path: string;
  /**
   * Opens this file, whatever its name. Only while the walk is at this entry. Throws
   * `WorkspaceError`.
   */
  open(): Promise<OpenedFile>;
}

/**
 * Why a walk skipped something: the limit on entries, the limit on depth, or a folder that cannot
 * be opened.
 */
export type Passed = 'too-many' | 'too-deep' | 'closed';

/** Limits of a walk, and the listener for what it skips. */
export interface Walk {
  /** Entries that the walk may still read. */
  left: number;
  /** Deepest nesting of folders that it enters. */
  readonly deepest: number;
  /** `path`: the folder that was skipped, or not read to its end. */
  passed(path: string, why: Passed): void;
}

/** Names that this process is writing or removing right now. They are hidden. */
export const unfinished = new Set<string>();

/** Entries of one folder that are read together. */
const AT_ONCE = 64;

/** The entries of a folder, sorted by name. */
export async function* entriesIn(folder: OpenFolder): AsyncGenerator<FoundEntry> {
  const names = await readdir(itself(folder), { encoding: 'buffer' });
  const all = names.map((raw) => ({ raw, name: raw.toString() })).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE).filter(({ name }) => !unfinished.has(name));
    for (const entry of await Promise.all(some.map((each) => entryOf(folder, each)))) if (entry) yield entry;
  }
}

/** Null: it disappeared meanwhile. */
async function entryOf(
  folder: OpenFolder,
  { raw, name }: Pick<FoundEntry, 'raw' | 'name'>,
): Promise<FoundEntry | null> {
  try {
    const stats = await lstat(placeOf(folder, raw), { bigint: true });
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
    const stamp = [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
    const bytes = kind === 'file' ? Number(stats.size) : 0;
    return { raw, name, kind, bytes, changedAt: Number(stats.mtimeMs), stamp };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A folder comes before its content. */
export async function* entriesBelow(
  folder: OpenFolder,
  path: string,
  walk: Walk,
  depth = 0,
): AsyncGenerator<EntryBelow> {
  for await (const entry of entriesIn(folder)) {
    if (walk.left <= 0) return walk.passed(path, 'too-many');
    walk.left -= 1;
    const own = path === '' ? entry.name : `${path}/${entry.name}`;
    yield { ...entry, path: own, open: () => openFileIn(folder, entry.raw, own) };
    if (entry.kind !== 'folder') continue;
    if (depth >= walk.deepest) {
      walk.passed(own, 'too-deep');
      continue;
    }
    const inner = await openBelow(folder, entry.raw, own, walk);
    if (!inner) continue;
    try {
      yield* entriesBelow(inner, own, walk, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}

/** An entry that is only counted. */
export interface CountedEntry {
  readonly path: string;
  /** Size of a file; else 0. */
  readonly bytes: number;
  /**
   * Bytes that it takes on the disk, and at least its length, since the holes of a sparse file may
   * be filled.
   */
  readonly held: number;
}

/** Entries that are read concurrently, so that the disk is waited for only once. */
const SIDE_BY_SIDE = 64;
/** The unit of stat(2), whatever the disk's own blocks are. */
const BLOCK = 512;

/**
 * Calls `use` for each entry below, in no order. It holds few names in memory, since a program may
 * have created millions. False: there are more than `walk` permits.
 */
export async function countBelow(
  folder: OpenFolder,
  path: string,
  walk: Walk,
  use: (entry: CountedEntry) => void,
  depth = 0,
): Promise<boolean> {
  const inner: { readonly raw: Buffer; readonly path: string }[] = [];
  async function count(raw: Buffer): Promise<void> {
    const name = raw.toString();
    const stats = await lstat(placeOf(folder, raw)).catch((error: unknown) => {
      // It disappeared meanwhile.
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (!stats) return;
    const own = path === '' ? name : `${path}/${name}`;
    use({ path: own, bytes: stats.isFile() ? stats.size : 0, held: Math.max(stats.size, stats.blocks * BLOCK) });
    if (stats.isDirectory()) inner.push({ raw, path: own });
  }
  let isFull = false;
  let batch: Buffer[] = [];
  const flush = async () => {
    const all = batch;
    batch = [];
    await Promise.all(all.map(count));
  };
  // One character per byte of a name, because a name need not be text.
  for await (const { name } of await opendir(itself(folder), { encoding: 'latin1', bufferSize: SIDE_BY_SIDE })) {
    const raw = Buffer.from(name, 'latin1');
    if (unfinished.has(raw.toString())) continue;
    if (walk.left <= 0) {
      isFull = true;
      walk.passed(path, 'too-many');
      break;
    }
    walk.left -= 1;
    batch.push(raw);
    if (batch.length === SIDE_BY_SIDE) await flush();
  }
  await flush();
  if (isFull) return false;
  for (const { raw, path: own } of inner) {
    if (depth >= walk.deepest) {
      walk.passed(own, 'too-deep');
      continue;
    }
    const below = await openBelow(folder, raw, own, walk);
    if (!below) continue;
    try {
      if (!(await countBelow(below, own, walk, use, depth + 1))) return false;
    } finally {
      await below.handle.close();
    }
  }
  return true;
}

/**
 * Null: it disappeared, became something else, or cannot be opened. Only the last is reported to
 * `walk`.
 */
const openBelow = (folder: OpenFolder, raw: Buffer, path: string, walk: Walk) =>
  step(folder, raw).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))) walk.passed(path, 'closed');
    return null;
  });

// The content at a path in a workspace, with a mark that changes with it.

const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
/** Bytes per read. */
const CHUNK = 256 * 1024;

export interface Lies {
  readonly kind: Entry['kind'] | 'none';
  /** Size of a file, or of all files below a folder; else 0. */
  readonly bytes: number;
  /** Files and folders below a folder; else 0. */
  readonly entries: number;
  /** Equal as long as the content is the same. */
  readonly mark: string;
  /** The content of a short enough file; else null. */
  readonly content: Buffer | null;
}

interface LiesLimits {
  /**
   * Bytes of a file up to which its mark is a hash of its content. The mark of a longer one is its
   * inode, size and times.
   */
  readonly hashedBytes: number;
  /** Bytes up to which `content` is returned. */
  readonly contentBytes: number;
  /** Files and folders below a folder that are read, and how deep. */
  readonly entries: number;
  readonly deepest: number;
}

export const NOTHING: Lies = { kind: 'none', bytes: 0, entries: 0, mark: 'none', content: null };

export const contentMark = (content: Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/**
 * The content of an open file, with its length at the time of opening. So a growing file has an
 * end.
 */
export async function readWhole(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  let read = 0;
  while (read < bytes) {
    const { bytesRead } = await file.read(buffer, read, bytes - read, read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/** Hash of an open file's content, whatever its length. */
export async function hashOfFile(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(CHUNK);
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) return `sha256:${hash.digest('hex')}`;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function folderLies(folder: OpenFolder, raw: Buffer, limits: LiesLimits): Promise<Lies> {
  const hash = createHash('sha256');
  let [bytes, entries] = [0, 0];
  const passed = (path: string, why: string) => void hash.update(JSON.stringify([path, why]));
  const inner = await step(folder, raw);
  try {
    const walk = { left: limits.entries, deepest: limits.deepest, passed };
    for await (const entry of entriesBelow(inner, '', walk)) {
      hash.update(JSON.stringify([entry.path, entry.kind, entry.stamp]));
      bytes += entry.bytes;
      entries += 1;
    }
  } finally {
    await inner.handle.close();
  }
  return { kind: 'folder', bytes, entries, mark: `folder:${hash.digest('hex')}`, content: null };
}

/** `raw`: the bytes of the name. Links are not followed. */
export async function liesIn(folder: OpenFolder, raw: Buffer, limits: LiesLimits): Promise<Lies> {
  const place = placeOf(folder, raw);
  try {
    const stats = await lstat(place, { bigint: true });
    const stamp = [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
    const bytes = Number(stats.size);
    const as = (kind: Entry['kind'], mark: string): Lies => ({ ...NOTHING, kind, mark });
    if (stats.isSymbolicLink()) return as('link', `link:${(await readlink(place, 'buffer')).toString('hex')}`);
    if (stats.isDirectory()) return await folderLies(folder, raw, limits);
    if (!stats.isFile()) return as('other', `other:${stamp}`);
    if (bytes > limits.hashedBytes) return { ...as('file', `stamp:${stamp}`), bytes };
    const file = await open(place, FILE);
    try {
      if (bytes > limits.contentBytes) return { ...as('file', await hashOfFile(file)), bytes };
      const content = await readWhole(file, bytes);
      return { kind: 'file', bytes: content.length, entries: 0, mark: contentMark(content), content };
    } finally {
      await file.close();
    }
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        return NOTHING;
      case 'EACCES':
      case 'EPERM':
        return { ...NOTHING, kind: 'other', mark: 'closed' };
      default:
        throw error;
    }
  }
}
