/**
 * Lists, reads, writes, moves and removes the content of one folder. Nothing outside it is touched.
 */
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { UNSEEN } from '../../../src/shared/domain/project-path.ts';
import { codeOf } from '../../platform/errors.ts';
import {
  at,
  itself,
  missing,
  NO_LINKS,
  type OpenedFile,
  openFileIn,
  type OpenFolder,
  openWithin,
  placeOf,
  rawName,
  shownPath,
  stepToEmpty,
  WorkspaceError,
} from './open-folder.ts';
import {
  countBelow,
  type CountedEntry,
  entriesBelow,
  entriesIn,
  type Entry,
  type EntryBelow,
  type Lies,
  liesIn,
  NOTHING,
  unfinished,
  type Walk,
} from './entries.ts';
import { WORKSPACE_LIMITS } from './settings.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
/**
 * Prefix of files that are being written or removed. A killed relay may leave one, which is then a
 * file like any other.
 */
const UNFINISHED = '.roost-';
/** Nesting of folders that a removal holds open. Deeper content is moved up first. */
const REMOVED_DEEPEST = 64;

/** The content that a path must have to be changed: the `mark` of `Lies`. Left out: any content. */
export interface Expects {
  readonly expects?: string | undefined;
}

/** Counts of what was removed. */
export interface Removed {
  readonly files: number;
  readonly folders: number;
}

/** A folder that is held open, so that no other folder can get its id. */
export interface OpenItself {
  /** Its absolute path when it was opened. */
  readonly path: string;
  /** Its device and inode, as in `stat -c %d:%i`. */
  readonly id: string;
  close(): Promise<void>;
}

/** All methods throw `WorkspaceError` for expected failures. Changes run one after another. */
export interface Folder {
  /**
   * A folder below this one as a folder of its own. No path leads out of it, and it is never
   * created. Locks and the order of changes are those of this folder.
   */
  within(path: string): Folder;
  /** Opens the folder itself, for a program that sees it. The caller closes it. */
  openItself(): Promise<OpenItself>;
  /** Creates a folder, with those above it. */
  make(path: string): Promise<void>;
  /** Its content, by name. */
  list(path: string): Promise<readonly Entry[]>;
  /** An open file. The caller closes it. */
  open(path: string): Promise<OpenedFile>;
  /** Calls `use` with the open file and its length in bytes. */
  read<Value>(path: string, use: (file: FileHandle, bytes: number) => Promise<Value>): Promise<Value>;
  /**
   * Writes the whole file or nothing, and creates its folders. `replaced`: bytes of the replaced
   * file. Null: the file is new.
   */
  write(path: string, bytes: Uint8Array, expects?: Expects): Promise<{ readonly replaced: number | null }>;
  /** Removes a file, or a folder with its content. Links are removed, but not their targets. */
  remove(path: string, options?: Expects & { readonly onlyEmpty?: boolean }): Promise<Removed>;
  /** Removes its whole content. */
  clear(): Promise<void>;
  /**
   * Moves a file or folder. Never replaces a folder, and a file only with `replaces`. `makes`:
   * creates the folders of `to`. `expectsThere`: the expected content at `to`. Resolves with
   * whether a file was replaced.
   */
  move(
    from: string,
    to: string,
    options: Expects & {
      readonly replaces: boolean;
      readonly makes: boolean;
      readonly expectsThere?: string | undefined;
    },
  ): Promise<{ readonly replaced: boolean }>;
  /**
   * The content at a path. Links are not followed anywhere in the path, so nothing lies behind one.
   */
  lies(path: string): Promise<Lies>;
  /**
   * All files and folders below, a folder before its content, at most `most`. `passed`: receives
   * what is skipped.
   */
  walk(path: string, most: number, passed?: Walk['passed']): AsyncGenerator<EntryBelow>;
  /**
   * Calls `use` for each of at most `most` entries, at any depth. False: there are more, or
   * something cannot be opened.
   */
  countAll(most: number, use: (entry: CountedEntry) => void): Promise<boolean>;
  /**
   * Locks the content at these paths. Until the returned function is called, this module writes,
   * moves and removes nothing there. Resolves when no change of it is running.
   */
  hold(paths: readonly string[]): Promise<() => void>;
}

/**
 * The names of a path within the folder, outermost first. A sentence where the path is invalid. A
 * path is relative, has `/` between names, and cannot lead, or appear to lead, elsewhere. An empty
 * path is the folder itself. Pure.
 */
function namesOf(path: string): { readonly names: readonly string[] } | { readonly refused: string } {
  const refused = (why: string) => ({ refused: `${JSON.stringify(path.slice(0, 200))} ${why}` });
  if (path.length > WORKSPACE_LIMITS.path) return refused(`is longer than ${WORKSPACE_LIMITS.path} characters.`);
  if (/^[\\/~]|^[A-Za-z]:[\\/]/.test(path))
    return refused('is not a path in the folder: give it from the folder on, as in notes/today.md.');
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

/** The names of an existing entry, whatever a program has called it, so that it can be removed. */
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

/** Calls `use` with a unique name that is hidden meanwhile. */
async function unseen<Value>(use: (name: string) => Promise<Value>): Promise<Value> {
  const name = `${UNFINISHED}${newId()}`;
  unfinished.add(name);
  try {
    return await use(name);
  } finally {
    unfinished.delete(name);
  }
}

/**
 * Removes the entry of this name. Content that is too deep to hold all its folders open is moved up
 * to `root` first.
 */
async function removeIn(root: OpenFolder, parent: OpenFolder, name: Buffer, depth = 0): Promise<Removed> {
  const place = placeOf(parent, name);
  const stats = await lstat(place);
  if (!stats.isDirectory()) {
    await unlink(place);
    return { files: 1, folders: 0 };
  }
  let [files, folders] = [0, 1];
  const add = (removed: Removed) => {
    files += removed.files;
    folders += removed.folders;
  };
  const folder = await stepToEmpty(parent, name);
  try {
    for (const each of await readdir(itself(folder), { encoding: 'buffer' }))
      if (depth < REMOVED_DEEPEST) add(await removeIn(root, folder, each, depth + 1));
      else
        await unseen(async (taken) => {
          await rename(placeOf(folder, each), at(root, taken));
          add(await removeIn(root, root, Buffer.from(taken)));
        });
  } finally {
    await folder.handle.close();
  }
  await rmdir(place);
  return { files, folders };
}

/** Null: nothing is there. */
const statOf = (place: string | Buffer) =>
  lstat(place).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });

/** Names as a case-insensitive and normalising disk compares them. */
const folded = (names: readonly string[]) => names.join('/').normalize('NFC').toLowerCase();
const liesBelow = (path: string, above: string) => above === '' || path === above || path.startsWith(`${above}/`);

/** `root`: created if missing, for its owner alone. */
export const createFolder = (root: string): Folder => folderBelow({ root, above: [], inTurn: createQueue(), held: [] });

interface Below {
  readonly root: string;
  /** Names from the root to this folder. */
  readonly above: readonly string[];
  /** Makes checks and changes atomic among the callers of this module. */
  readonly inTurn: ReturnType<typeof createQueue>;
  /** Locked paths from the root on, folded. A path occurs once per lock. */
  readonly held: string[];
}

/** Throws where the content is not the expected one. */
async function refuseOther(folder: OpenFolder, raw: Buffer, expects: string | undefined, names: readonly string[]) {
  if (expects === undefined || (await liesIn(folder, raw, WORKSPACE_LIMITS.lies)).mark === expects) return;
  throw new WorkspaceError('changed', `${shownPath(names)} has changed meanwhile. Nothing was done.`);
}

type Stats = Awaited<ReturnType<typeof lstat>>;

/** Throws where something that is no file stands in the place of a file to write. */
function refuseNoFile(there: Stats | null, names: readonly string[]): void {
  if (there && !there.isFile())
    throw new WorkspaceError('not-a-file', `${shownPath(names)} exists already, and is not a file.`);
}

/** Throws where a move would overwrite a folder, or a file that it may not replace. */
function refuseOverwrite(moved: Stats, there: Stats, target: readonly string[], replaces: boolean): void {
  if (there.isDirectory() || moved.isDirectory())
    throw new WorkspaceError(
      'exists',
      `${shownPath(target)} exists already${there.isDirectory() ? ', and is a folder: give the whole new path, with the new name' : ''}. Nothing was moved.`,
    );
  if (!replaces) throw new WorkspaceError('exists', `${shownPath(target)} exists already. Nothing was moved.`);
}

function folderBelow(below: Below): Folder {
  const { root, above, inTurn, held } = below;

  async function within<Value>(
    names: readonly string[],
    make: boolean,
    use: (folder: OpenFolder) => Promise<Value>,
  ): Promise<Value> {
    const folder = await openWithin(root, names, make, above);
    try {
      return await use(folder);
    } finally {
      await folder.handle.close();
    }
  }
  /** Opens the parent folder of a path's last name. */
  async function inParent<Value>(
    names: readonly string[],
    make: boolean,
    use: (parent: OpenFolder, name: string, names: readonly string[]) => Promise<Value>,
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

  /** Throws where this path is locked, or is above or below a locked one. */
  function refuseHeld(names: readonly string[]): void {
    const path = folded([...above, ...names]);
    if (held.some((each) => liesBelow(path, each) || liesBelow(each, path)))
      throw new WorkspaceError(
        'busy',
        `${shownPath(names)} cannot change while a command runs that the human allowed with it. Wait for its end, or end it.`,
      );
  }
  const openFile = (path: string) =>
    inParent(namesIn(path), false, async (parent, name, names) =>
      openFileIn(parent, await rawName(parent, name), shownPath(names)),
    );

  return {
    within: (path) => folderBelow({ ...below, above: [...above, ...namesIn(path)] }),
    async openItself() {
      const { handle, path } = await openWithin(root, [], false, above);
      try {
        const { dev, ino } = await handle.stat({ bigint: true });
        const now = process.platform === 'linux' ? await readlink(itself({ handle, path })) : path;
        return { path: now, id: `${dev}:${ino}`, close: () => handle.close() };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    make: (path) => within(namesIn(path), true, () => Promise.resolve()),
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
    write: (path, bytes, { expects } = {}) =>
      inParent(namesIn(path), true, async (parent, name, names) => {
        refuseNoFile(await statOf(at(parent, name)), names);
        return await unseen(async (made) => {
          const half = at(parent, made);
          try {
            const file = await open(half, NEW_FILE, 0o600);
            try {
              await file.writeFile(bytes);
            } finally {
              await file.close();
            }
            return await inTurn(async () => {
              refuseHeld(names);
              await refuseOther(parent, Buffer.from(name), expects, names);
              const before = await statOf(at(parent, name));
              refuseNoFile(before, names);
              // Replaces whatever is there by now. A link is replaced itself, and its target stays.
              await rename(half, at(parent, name));
              return { replaced: before ? before.size : null };
            });
          } catch (error) {
            await unlink(half).catch(() => undefined);
            throw error;
          }
        });
      }),
    remove: (path, { expects, onlyEmpty = false } = {}) =>
      inParent(namesThere(path), false, (parent, name, names) =>
        within([], false, (top) =>
          inTurn(async () => {
            const raw = await rawName(parent, name);
            refuseHeld(names);
            await refuseOther(parent, raw, expects, names);
            if (!onlyEmpty || !(await lstat(placeOf(parent, raw))).isDirectory())
              return await removeIn(top, parent, raw);
            try {
              await rmdir(placeOf(parent, raw));
            } catch (error) {
              if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
              throw new WorkspaceError('not-empty', `${shownPath(names)} is a folder, and is not empty.`);
            }
            return { files: 0, folders: 1 };
          }),
        ),
      ),
    clear: () =>
      within([], false, async (top) => {
        for (const name of await readdir(itself(top), { encoding: 'buffer' })) await removeIn(top, top, name);
      }),
    move(from, to, { replaces, makes, expects, expectsThere }) {
      const [source, target] = [namesThere(from), namesIn(to)];
      if (folded(target).startsWith(`${folded(source)}/`))
        throw new WorkspaceError('bad-path', `${shownPath(source)} cannot be moved into itself.`);
      return inParent(source, false, async (parent, name) => {
        const raw = await rawName(parent, name);
        // Checked before any folder is created for it.
        await lstat(placeOf(parent, raw));
        return await inParent(target, makes, (newParent, newName) =>
          inTurn(async () => {
            refuseHeld(source);
            refuseHeld(target);
            await refuseOther(parent, raw, expects, source);
            await refuseOther(newParent, Buffer.from(newName), expectsThere, target);
            const [moved, there] = [await lstat(placeOf(parent, raw)), await statOf(at(newParent, newName))];
            const isSame = there !== null && moved.ino === there.ino && moved.dev === there.dev;
            // On a case-insensitive disk the entry exists under both names.
            const isRespelled = isSame && source.join('/') !== target.join('/') && folded(source) === folded(target);
            if (there && !isRespelled) refuseOverwrite(moved, there, target, replaces);
            // Two names of one file. Renaming one to the other does nothing.
            if (isSame && !isRespelled) await unlink(placeOf(parent, raw));
            else await rename(placeOf(parent, raw), at(newParent, newName));
            return { replaced: there !== null && !isRespelled };
          }),
        );
      });
    },
    async lies(path) {
      const names = namesThere(path);
      if (names.length === 0)
        // Listed from its parent, as any other folder.
        throw new WorkspaceError('not-a-file', 'That is the folder itself.');
      try {
        return await inParent(names, false, async (parent, name) =>
          liesIn(parent, await rawName(parent, name), WORKSPACE_LIMITS.lies),
        );
      } catch (error) {
        if (error instanceof WorkspaceError && (error.kind === 'not-found' || error.kind === 'not-a-folder'))
          return NOTHING;
        throw error;
      }
    },
    async *walk(path, most, passed = () => undefined) {
      const names = namesIn(path);
      const folder = await openWithin(root, names, false, above);
      try {
        yield* entriesBelow(folder, names.join('/'), { left: most, deepest: WORKSPACE_LIMITS.walkedDepth, passed });
      } finally {
        await folder.handle.close();
      }
    },
    countAll: (most, use) =>
      within([], false, async (folder) => {
        let whole = true;
        const walk: Walk = { left: most, deepest: WORKSPACE_LIMITS.walkedDepth, passed: () => (whole = false) };
        await countBelow(folder, '', walk, use);
        return whole;
      }),
    async hold(paths) {
      const folds = paths.map((path) => folded([...above, ...namesThere(path)]));
      // Changes that are running now finish first.
      await inTurn(() => Promise.resolve(held.push(...folds)));
      return () => {
        for (const path of folds) {
          const index = held.indexOf(path);
          if (index >= 0) held.splice(index, 1);
        }
      };
    },
  };
}
