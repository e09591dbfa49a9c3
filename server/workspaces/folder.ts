/** What lies in one folder: listed, read, written and removed, and nothing outside of it touched. */
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { sep } from 'node:path';
import { codeOf } from '../error-code.ts';
import { missing, shownPath, WorkspaceError } from './errors.ts';
import {
  countBelow,
  entriesBelow,
  entriesIn,
  unfinished,
  type CountedEntry,
  type Entry,
  type EntryBelow,
  type Walk,
} from './entries.ts';
import { at, itself, NO_LINKS, openUp, openWithin, placeOf, rawName, step, type OpenFolder } from './open-folder.ts';
import { WORKSPACE_LIMITS } from './settings.ts';

/** Not waiting: a pipe that nobody writes to would be waited for. */
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
/** What is being written or taken away begins so. One that is left of a relay that was killed is a file like any other. */
const UNFINISHED = '.roost-';
/** Folders in each other that are gone into; a program besides Roost may have made more. */
const DEEPEST = 64;
/** The same where they are only counted: what is not counted has no bound. */
const COUNTED_DEEPEST = 200;

const OWNERS = 0o700;

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
  /** All that is in it. */
  clear(): Promise<void>;
  /** All files and folders below, a folder before what is in it; at most `most`. */
  walk(path: string, most: number): AsyncGenerator<EntryBelow>;
  /** Calls `use` for each of at most `most`, as deep as it lies. False: there is more, or something that cannot be opened. */
  countAll(most: number, use: (entry: CountedEntry) => void): Promise<boolean>;
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

/** Of what lies there already, however a program has called it: to be taken away. */
function namesThere(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (path.startsWith('/') || names.includes('..') || path.includes('\0') || sep !== '/') return namesIn(path);
  return names;
}

function namesIn(path: string): readonly string[] {
  const read = namesOf(path);
  if ('refused' in read) throw new WorkspaceError('bad-path', read.refused);
  return read.names;
}

/** Calls `use` with a name that is of this moment alone, and which nobody is shown meanwhile. */
async function unseen<Value>(use: (name: string) => Promise<Value>): Promise<Value> {
  const name = `${UNFINISHED}${randomUUID()}`;
  unfinished.add(name);
  try {
    return await use(name);
  } finally {
    unfinished.delete(name);
  }
}

/** Removes what has this name. What lies too deep to hold every folder above it open is taken up to `root` first. */
async function removeIn(root: OpenFolder, parent: OpenFolder, name: Buffer, depth = 0): Promise<void> {
  const place = placeOf(parent, name);
  const found = await lstat(place);
  if (!found.isDirectory()) return await unlink(place);
  // A command may have taken the rights away that its removal needs.
  if ((found.mode & OWNERS) !== OWNERS) await openUp(parent, name);
  const folder = await step(parent, name);
  try {
    for (const each of await readdir(itself(folder), { encoding: 'buffer' }))
      if (depth < DEEPEST) await removeIn(root, folder, each, depth + 1);
      else
        await unseen(async (taken) => {
          await rename(placeOf(folder, each), at(root, taken));
          await removeIn(root, root, Buffer.from(taken));
        });
  } finally {
    await folder.handle.close();
  }
  await rmdir(place);
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
    names = namesIn(path),
  ): Promise<Value> {
    const name = names.at(-1);
    if (name === undefined) throw new WorkspaceError('not-a-file', 'That is the folder itself.');
    if (unfinished.has(name)) throw new WorkspaceError('not-found', `There is no ${shownPath(names)}.`);
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
      const file = await open(placeOf(parent, await rawName(parent, name)), FILE);
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
    list: async (path) =>
      await within(namesIn(path), false, async (folder) => {
        const entries: Entry[] = [];
        for await (const { name, kind, bytes, changedAt } of entriesIn(folder))
          entries.push({ name, kind, bytes, changedAt });
        return entries;
      }),
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
        await unseen(async (made) => {
          const half = at(parent, made);
          try {
            const file = await open(half, NEW_FILE, 0o600);
            try {
              await file.writeFile(bytes);
            } finally {
              await file.close();
            }
            // It takes the place of whatever is there by now, a link included; what that leads to stays as it is.
            await rename(half, at(parent, name));
          } catch (error) {
            await unlink(half).catch(() => undefined);
            throw error;
          }
        });
        return { replaced: before ? before.size : null };
      }),
    remove: async (path) =>
      await inParent(
        path,
        false,
        (parent, name) =>
          within([], false, async (top) => {
            await removeIn(top, parent, await rawName(parent, name));
          }),
        namesThere(path),
      ),
    clear: () =>
      within([], false, async (top) => {
        for (const name of await readdir(itself(top), { encoding: 'buffer' })) await removeIn(top, top, name);
      }),
    async *walk(path, most) {
      const names = namesIn(path);
      const folder = await openWithin(root, names, false);
      try {
        yield* entriesBelow(folder, names.join('/'), { left: most, deepest: DEEPEST, whole: true });
      } finally {
        await folder.handle.close();
      }
    },
    countAll: (most, use) =>
      within([], false, async (folder) => {
        const walk: Walk = { left: most, deepest: COUNTED_DEEPEST, whole: true };
        await countBelow(folder, '', walk, use);
        return walk.whole;
      }),
  };
}
