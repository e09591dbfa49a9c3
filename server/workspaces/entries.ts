/** What lies in an open folder, and below it: whatever it is called, since a program besides Roost may have called it anything. */
import { lstat, opendir, readdir } from 'node:fs/promises';
import { codeOf } from '../error-code.ts';
import { itself, placeOf, step, type OpenFolder } from './open-folder.ts';

export interface Entry {
  /** As it reads: where its bytes are no text, what stands for them. */
  readonly name: string;
  /** `link`: it leads elsewhere, and is not followed; `other`: a pipe, a socket, a device. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Of a file; else 0. */
  readonly bytes: number;
  /** ms since the epoch */
  readonly changedAt: number;
}
/** One below a folder, with its path in the workspace. */
export interface EntryBelow extends Entry {
  readonly path: string;
}

/** How far a walk goes, and how far it came. */
export interface Walk {
  /** Entries that it still looks at. */
  left: number;
  /** Folders in each other that are gone into. */
  readonly deepest: number;
  /** False: something was not looked at, since there is too much, it lies too deep, or it cannot be opened. */
  whole: boolean;
}

/** Being written or taken away just now, by this process, under names of its own: nobody is shown them. */
export const unfinished = new Set<string>();

/** By name. */
export async function* entriesIn(folder: OpenFolder): AsyncGenerator<Entry & { readonly raw: Buffer }> {
  const names = await readdir(itself(folder), { encoding: 'buffer' });
  const all = names.map((raw) => ({ raw, name: raw.toString() })).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { raw, name } of all) {
    if (unfinished.has(name)) continue;
    try {
      const found = await lstat(placeOf(folder, raw));
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other';
      yield { raw, name, kind, bytes: kind === 'file' ? found.size : 0, changedAt: Math.round(found.mtimeMs) };
    } catch (error) {
      // It went away meanwhile.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** A folder before what is in it. */
export async function* entriesBelow(
  folder: OpenFolder,
  path: string,
  walk: Walk,
  depth = 0,
): AsyncGenerator<EntryBelow> {
  for await (const { raw, ...entry } of entriesIn(folder)) {
    if (walk.left <= 0) {
      walk.whole = false;
      return;
    }
    walk.left -= 1;
    const own = path === '' ? entry.name : `${path}/${entry.name}`;
    yield { ...entry, path: own };
    if (entry.kind !== 'folder') continue;
    if (depth >= walk.deepest) {
      walk.whole = false;
      continue;
    }
    const inner = await openBelow(folder, raw, walk);
    if (!inner) continue;
    try {
      yield* entriesBelow(inner, own, walk, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}

/** One that is only counted. */
export interface CountedEntry {
  readonly path: string;
  /** Of a file; else 0. */
  readonly bytes: number;
  /** Bytes that it takes on the disk, and at least its length: what has holes may be filled. */
  readonly held: number;
}

/** Entries that are looked at side by side: the disk is waited for once. */
const SIDE_BY_SIDE = 64;
/** Of stat(2), whatever the disk's own blocks are. */
const BLOCK = 512;

/** Calls `use` for each entry below, in no order, and holds few names in memory: a program may have made millions. */
export async function countBelow(
  folder: OpenFolder,
  path: string,
  walk: Walk,
  use: (entry: CountedEntry) => void,
  depth = 0,
): Promise<void> {
  const inner: { readonly raw: Buffer; readonly path: string }[] = [];
  async function count(raw: Buffer): Promise<void> {
    const name = raw.toString();
    const found = await lstat(placeOf(folder, raw)).catch((error: unknown) => {
      // It went away meanwhile.
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (!found) return;
    const own = path === '' ? name : `${path}/${name}`;
    use({ path: own, bytes: found.isFile() ? found.size : 0, held: Math.max(found.size, found.blocks * BLOCK) });
    if (found.isDirectory()) inner.push({ raw, path: own });
  }
  let batch: Buffer[] = [];
  const flush = async () => {
    const all = batch;
    batch = [];
    await Promise.all(all.map(count));
  };
  // Each byte of a name as one character: names need be no text.
  for await (const { name } of await opendir(itself(folder), { encoding: 'latin1', bufferSize: SIDE_BY_SIDE })) {
    const raw = Buffer.from(name, 'latin1');
    if (unfinished.has(raw.toString())) continue;
    if (walk.left <= 0) {
      walk.whole = false;
      break;
    }
    walk.left -= 1;
    batch.push(raw);
    if (batch.length === SIDE_BY_SIDE) await flush();
  }
  await flush();
  for (const { raw, path: own } of inner) {
    if (walk.left <= 0 && !walk.whole) return;
    if (depth >= walk.deepest) {
      walk.whole = false;
      return;
    }
    const below = await openBelow(folder, raw, walk);
    if (!below) continue;
    try {
      await countBelow(below, own, walk, use, depth + 1);
    } finally {
      await below.handle.close();
    }
  }
}

/** Null: it went away, became something else, or cannot be opened, which `walk` is told. */
const openBelow = (folder: OpenFolder, raw: Buffer, walk: Walk) =>
  step(folder, raw).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) walk.whole = false;
    return null;
  });
