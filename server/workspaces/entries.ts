/** What lies in an open folder, and below it: whatever it is called, since a program besides Roost may have called it anything. */
import { lstat, readdir } from 'node:fs/promises';
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
    const inner = await step(folder, raw).catch((error: unknown) => {
      // It went away, or became something else.
      if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) walk.whole = false;
      return null;
    });
    if (!inner) continue;
    try {
      yield* entriesBelow(inner, own, walk, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}
