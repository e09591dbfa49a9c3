/** What lies in one folder: listed, read, written and removed, and nothing outside of it touched. */
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { codeOf } from '../error-code.ts';
import { missing, shownPath, WorkspaceError } from './errors.ts';
import { at, itself, NO_LINKS, openWithin, step, type OpenFolder } from './open-folder.ts';
import { WORKSPACE_LIMITS } from './settings.ts';

/** Not waiting: a pipe that nobody writes to would be waited for. */
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
/** What is being written or taken away, under a name that nobody is shown. */
const UNFINISHED = '.roost-';
/** Folders in each other that are gone into; a program besides Roost may have made more. */
const DEEPEST = 64;

export interface Entry {
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

/** All throw `WorkspaceError` for what cannot be done. */
export interface Folder {
  /** What lies in it, by name. */
  list(path: string): Promise<readonly Entry[]>;
  /** A file, open until whoever asked closes it, with its length in bytes. */
  open(path: string): Promise<{ readonly file: FileHandle; readonly bytes: number }>;
  /** Calls `use` with the open file and its length in bytes. */
  read<Value>(path: string, use: (file: FileHandle, bytes: number) => Promise<Value>): Promise<Value>;
  /** Writes all of it or nothing; makes the folders that it lies in. Says what it replaced, in bytes; null: it is new. */
  write(path: string, bytes: Uint8Array): Promise<{ readonly replaced: number | null }>;
  /** A file, or a folder with all that is in it. Links go; what they lead to stays. */
  remove(path: string): Promise<void>;
  /** All files and folders below, a folder before what is in it; at most `most`. */
  walk(path: string, most: number): AsyncGenerator<EntryBelow>;
}

/** What cannot be seen, or turns the direction of reading, would let a name look like another. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

/**
 * The names of a path within the folder, outermost first; a sentence where it is none. It is relative, with `/` between
 * names, and nothing in it leads or looks elsewhere. An empty path is the folder itself. Pure.
 */
function namesOf(path: string): { readonly names: readonly string[] } | { readonly refused: string } {
  const refused = (why: string) => ({ refused: `${JSON.stringify(path.slice(0, 200))} ${why}` });
  if (path.length > WORKSPACE_LIMITS.path) return refused(`is longer than ${WORKSPACE_LIMITS.path} characters.`);
  if (/^[\\/~]|^[A-Za-z]:[\\/]/.test(path))
    return refused('is no path within the folder: say it from the folder on, as in notes/today.md.');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > WORKSPACE_LIMITS.depth) return refused(`lies deeper than ${WORKSPACE_LIMITS.depth} folders.`);
  for (const name of names) {
    if (name === '..') return refused('leads out of the folder.');
    if (name.includes('\\')) return refused('has a backslash in it; folders are parted by /.');
    if (UNSEEN.test(name)) return refused('has characters in it that cannot be seen.');
    if (Buffer.byteLength(name) > WORKSPACE_LIMITS.name) return refused('has a name in it that is too long.');
  }
  return { names };
}

function namesIn(path: string): readonly string[] {
  const read = namesOf(path);
  if ('refused' in read) throw new WorkspaceError('bad-path', read.refused);
  return read.names;
}

async function entriesOf(folder: OpenFolder): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const name of await readdir(itself(folder))) {
    if (name.startsWith(UNFINISHED)) continue;
    try {
      const found = await lstat(at(folder, name));
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other';
      entries.push({ name, kind, bytes: kind === 'file' ? found.size : 0, changedAt: Math.round(found.mtimeMs) });
    } catch (error) {
      // It went away meanwhile.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function* below(
  folder: OpenFolder,
  path: string,
  left: { entries: number },
  depth = 0,
): AsyncGenerator<EntryBelow> {
  for (const entry of await entriesOf(folder)) {
    if (left.entries-- <= 0) return;
    const own = path === '' ? entry.name : `${path}/${entry.name}`;
    yield { ...entry, path: own };
    if (entry.kind !== 'folder' || depth >= DEEPEST) continue;
    const inner = await step(folder, entry.name).catch(() => null);
    if (!inner) continue;
    try {
      yield* below(inner, own, left, depth + 1);
    } finally {
      await inner.handle.close();
    }
  }
}

/** Removes what has this name. What lies too deep to hold every folder above it open is taken up to `root` first. */
async function removeIn(root: OpenFolder, parent: OpenFolder, name: string, depth = 0): Promise<void> {
  const found = await lstat(at(parent, name));
  if (!found.isDirectory()) return await unlink(at(parent, name));
  const folder = await step(parent, name);
  try {
    for (const each of await readdir(itself(folder)))
      if (depth < DEEPEST) await removeIn(root, folder, each, depth + 1);
      else {
        const taken = `${UNFINISHED}${randomUUID()}`;
        await rename(at(folder, each), at(root, taken));
        await removeIn(root, root, taken);
      }
  } finally {
    await folder.handle.close();
  }
  await rmdir(at(parent, name));
}

/** `root`: made where it is not there, for its owner alone. */
export function createFolder(root: string): Folder {
  async function within<Value>(
    names: readonly string[],
    make: boolean,
    use: (folder: OpenFolder) => Promise<Value>,
  ): Promise<Value> {
    const folder = await openWithin(root, names, make);
    try {
      return await use(folder);
    } finally {
      await folder.handle.close();
    }
  }
  /** What the last name of a path is looked for in, and that name. */
  async function inParent<Value>(
    path: string,
    make: boolean,
    use: (parent: OpenFolder, name: string, names: readonly string[]) => Promise<Value>,
  ): Promise<Value> {
    const names = namesIn(path);
    const name = names.at(-1);
    if (name === undefined) throw new WorkspaceError('not-a-file', 'That is the folder itself.');
    if (name.startsWith(UNFINISHED)) throw new WorkspaceError('bad-path', `Names do not begin with ${UNFINISHED}.`);
    return await within(names.slice(0, -1), make, async (parent) => {
      try {
        return await use(parent, name, names);
      } catch (error) {
        throw missing(error, names);
      }
    });
  }

  const openFile = (path: string) =>
    inParent(path, false, async (parent, name, names) => {
      const file = await open(at(parent, name), FILE);
      try {
        const found = await file.stat();
        if (!found.isFile()) throw new WorkspaceError('not-a-file', `${shownPath(names)} is no file.`);
        // Its other name may lie anywhere on this disk.
        if (found.nlink > 1)
          throw new WorkspaceError(
            'not-a-file',
            `${shownPath(names)} has another name besides (a hard link), and is left alone.`,
          );
        return { file, bytes: found.size };
      } catch (error) {
        await file.close();
        throw error;
      }
    });

  return {
    list: async (path) => await within(namesIn(path), false, entriesOf),
    open: openFile,
    async read(path, use) {
      const { file, bytes } = await openFile(path);
      try {
        return await use(file, bytes);
      } finally {
        await file.close();
      }
    },
    write: (path, bytes) =>
      inParent(path, true, async (parent, name, names) => {
        const before = await lstat(at(parent, name)).catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return null;
          throw error;
        });
        if (before && !before.isFile())
          throw new WorkspaceError('not-a-file', `${shownPath(names)} is there already, and is no file.`);
        const unfinished = at(parent, `${UNFINISHED}${randomUUID()}`);
        try {
          const file = await open(unfinished, NEW_FILE, 0o600);
          try {
            await file.writeFile(bytes);
          } finally {
            await file.close();
          }
          // It takes the place of whatever is there by now, a link included; what that leads to stays as it is.
          await rename(unfinished, at(parent, name));
        } catch (error) {
          await unlink(unfinished).catch(() => undefined);
          throw error;
        }
        return { replaced: before ? before.size : null };
      }),
    remove: (path) =>
      inParent(path, false, async (parent, name) =>
        within([], false, async (top) => {
          await removeIn(top, parent, name);
        }),
      ),
    async *walk(path, most) {
      const names = namesIn(path);
      const folder = await openWithin(root, names, false);
      try {
        yield* below(folder, names.join('/'), { entries: most });
      } finally {
        await folder.handle.close();
      }
    },
  };
}
