/**
 * Folders that are held open. Every step starts at an open folder and never follows a link. So
 * whatever another program swaps meanwhile, a step stays inside the opened folder. Linux provides
 * that by `/proc/self/fd` (as `openat` with `O_NOFOLLOW` does), macOS by `O_NOFOLLOW_ANY`; see
 * open(2) of either.
 */
import { constants } from 'node:fs';
import { chmod, type FileHandle, lchmod, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../platform/errors.ts';

// Errors of workspaces, as sentences for people and models.

type WorkspaceFault =
  | 'bad-path'
  | 'not-found'
  | 'not-a-file'
  | 'not-a-folder'
  | 'not-text'
  | 'too-large'
  | 'full'
  | 'exists'
  | 'not-empty'
  | 'busy'
  | 'no-access'
  | 'misfit'
  | 'changed';

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly kind: WorkspaceFault;
  constructor(kind: WorkspaceFault, message: string) {
    super(message);
    this.kind = kind;
  }
}

export const shownPath = (names: readonly string[]): string => (names.length === 0 ? 'the folder' : names.join('/'));

/**
 * Converts the system's error for a path that cannot be opened. Errors of the system itself stay as
 * they are.
 */
export function missing(error: unknown, names: readonly string[]): unknown {
  const shown = shownPath(names);
  switch (codeOf(error)) {
    case 'ENOENT':
      return new WorkspaceError('not-found', `There is no ${shown}.`);
    case 'ELOOP':
    case 'EMLINK':
      return new WorkspaceError('not-a-file', `${shown} is a link, and links are not followed.`);
    case 'ENOTDIR':
      return new WorkspaceError('not-a-folder', `${shown} does not lie in a folder.`);
    case 'ENXIO':
    case 'EISDIR':
      return new WorkspaceError('not-a-file', `${shown} is no file.`);
    case 'ENAMETOOLONG':
      return new WorkspaceError('bad-path', `${shown} is too long a name.`);
    case 'EACCES':
    case 'EPERM':
      return new WorkspaceError('no-access', `The rights that are set for ${shown} forbid this.`);
    case 'ENOTEMPTY':
    case 'EEXIST':
      return new WorkspaceError('changed', `Something came into ${shown} meanwhile.`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new WorkspaceError('full', 'The disk is full. Nothing was written.');
    default:
      return error;
  }
}

/** Of open(2) on macOS: no link anywhere in the path. Node has no name for it. */
const O_NOFOLLOW_ANY = 0x2000_0000;
export const NO_LINKS = process.platform === 'darwin' ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS;
/** Non-blocking: opening a pipe without a writer would wait. */
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
/**
 * Of open(2) on Linux: opens a path without any permission on its content. Node has no name for it.
 */
const O_PATH = 0x20_0000;
/** Permissions that a folder's owner needs to list and empty it. */
const OWNERS_RIGHTS = 0o700;

export interface OpenFolder {
  readonly handle: FileHandle;
  /** Its path when it was opened. */
  readonly path: string;
}

/** A path to a name in an open folder. It works whatever has become of the folder's own path. */
export const at = ({ handle, path }: OpenFolder, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : `${path}/${name}`;
/** As `at`, for a name in bytes, which need not be text. */
export const placeOf = (folder: OpenFolder, raw: Buffer): Buffer => Buffer.concat([Buffer.from(at(folder, '')), raw]);
/** A path to the open folder itself. */
export const itself = ({ handle, path }: OpenFolder): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;

const STANDS_FOR_BYTES = '\ufffd';
/** The bytes of a listed name. Where they are not text, the first entry that reads the same. */
export async function rawName(folder: OpenFolder, name: string): Promise<Buffer> {
  const own = Buffer.from(name);
  if (!name.includes(STANDS_FOR_BYTES)) return own;
  const names = await readdir(itself(folder), { encoding: 'buffer' });
  return names.find((raw) => raw.equals(own)) ?? names.find((raw) => raw.toString() === name) ?? own;
}

/**
 * Sets the permissions of this entry, whatever they are now. A program may have removed them, and
 * then only root could open it. Never follows a link. `flags`: `O_DIRECTORY` for a folder.
 */
async function giveRights(
  place: string | Buffer,
  mode: number = OWNERS_RIGHTS,
  flags: number = constants.O_DIRECTORY,
): Promise<void> {
  if (process.platform !== 'linux') return await lchmod(place, mode);
  const handle = await open(place, O_PATH | flags | NO_LINKS);
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, mode);
  } finally {
    await handle.close();
  }
}

/** Opens the folder at this path; null: there is none. Creates nothing, and follows no link. */
export async function openThere(path: string): Promise<OpenFolder | null> {
  try {
    return { handle: await openOwned(path), path };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP') return null;
    throw error;
  }
}

/**
 * Opens the entry of this name for reading, and calls `use`. Where its permissions forbid that to
 * its owner, they are given for a moment, and `mode` is set again. Never follows a link.
 */
export async function withRights<Value>(
  from: OpenFolder,
  raw: Buffer,
  { kind, mode }: { readonly kind: 'file' | 'folder'; readonly mode: number },
  use: (handle: FileHandle) => Promise<Value>,
): Promise<Value> {
  const place = placeOf(from, raw);
  const flags = kind === 'folder' ? FOLDER : FILE;
  let isGiven = false;
  const handle = await open(place, flags).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EACCES') throw error;
    await giveRights(place, mode | OWNERS_RIGHTS, kind === 'folder' ? constants.O_DIRECTORY : 0);
    isGiven = true;
    return await open(place, flags);
  });
  try {
    // Put back at once: an open file stays readable. A folder needs its permissions until the end.
    if (isGiven && kind === 'file') await handle.chmod(mode);
    return await use(handle);
  } finally {
    if (isGiven && kind === 'folder') await handle.chmod(mode);
    await handle.close();
  }
}

/** Opens a folder even where its permissions forbid that to its owner. */
async function openOwned(place: string | Buffer): Promise<FileHandle> {
  try {
    return await open(place, FOLDER);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    await giveRights(place);
    return await open(place, FOLDER);
  }
}

/** Created if missing, for its owner alone. */
async function openRoot(path: string): Promise<OpenFolder> {
  await mkdir(path, { recursive: true, mode: OWNERS_RIGHTS });
  return { handle: await openOwned(path), path };
}

/** Opens the folder of this name to empty it. Afterwards its owner has all permissions on it. */
export async function stepToEmpty(from: OpenFolder, raw: Buffer): Promise<OpenFolder> {
  const handle = await openOwned(placeOf(from, raw));
  try {
    const { mode } = await handle.stat();
    if ((mode & OWNERS_RIGHTS) !== OWNERS_RIGHTS) await handle.chmod(OWNERS_RIGHTS);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { handle, path: join(from.path, raw.toString()) };
}

/** Opens the folder of this name in another one. `make`: creates it if missing. */
export async function step(from: OpenFolder, name: string | Buffer, make = false): Promise<OpenFolder> {
  const raw = typeof name === 'string' ? await rawName(from, name) : name;
  for (;;)
    try {
      return { handle: await open(placeOf(from, raw), FOLDER), path: join(from.path, raw.toString()) };
    } catch (error) {
      if (!make || codeOf(error) !== 'ENOENT') throw error;
      await mkdir(placeOf(from, raw), { mode: OWNERS_RIGHTS }).catch((fault: unknown) => {
        // Another process created it first.
        if (codeOf(fault) !== 'EEXIST') throw fault;
      });
    }
}

/**
 * Opens the folder at the end of these names, or the root for an empty list. The caller closes it.
 * `above`: the folder below the root at which the names begin. It is never created, and no message
 * names it. Throws `WorkspaceError`.
 */
export async function openWithin(
  root: string,
  names: readonly string[],
  make: boolean,
  above: readonly string[] = [],
): Promise<OpenFolder> {
  let folder = await openRoot(root);
  for (const [i, name] of [...above, ...names].entries()) {
    const before = folder;
    const isAbove = i < above.length;
    const so = names.slice(0, Math.max(0, i + 1 - above.length));
    try {
      folder = await step(before, name, make && !isAbove);
    } catch (error) {
      if (isAbove && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error)))
        throw new WorkspaceError('not-found', 'Your folder is gone.');
      // A link or a file in place of a folder.
      if (codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP')
        throw new WorkspaceError('not-a-folder', `${so.join('/')} is no folder; links are not followed.`);
      throw missing(error, so);
    } finally {
      await before.handle.close();
    }
  }
  return folder;
}

/** The caller closes `file`. `bytes`: its length when it was opened. */
export interface OpenedFile {
  readonly file: FileHandle;
  readonly bytes: number;
}

/** Opens the file of this name. `shown`: its path in messages. Throws `WorkspaceError`. */
export async function openFileIn(folder: OpenFolder, raw: Buffer, shown: string): Promise<OpenedFile> {
  try {
    const file = await open(placeOf(folder, raw), FILE);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new WorkspaceError('not-a-file', `${shown} is no file.`);
      // Its other name may be anywhere on this disk.
      if (stats.nlink > 1)
        throw new WorkspaceError('not-a-file', `${shown} has another name besides (a hard link), and is left alone.`);
      return { file, bytes: stats.size };
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    throw missing(error, [shown]);
  }
}
