/**
 * Folders that are held open. Every step from one is taken from it, and never through a link:
 * whatever another program swaps meanwhile, where a step leads to lies in the folder that was
 * opened. Linux gives that by `/proc/self/fd` (as `openat` with `O_NOFOLLOW` does), macOS by
 * `O_NOFOLLOW_ANY`; see open(2) of either.
 */
import { constants } from 'node:fs';
import { chmod, lchmod, mkdir, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../platform/errors.ts';
import { missing, WorkspaceError } from './errors.ts';

/** Of open(2) on macOS: no link anywhere in the path. Node does not name it. */
const O_NOFOLLOW_ANY = 0x2000_0000;
export const NO_LINKS = process.platform === 'darwin' ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS;
/** Not waiting: a pipe that nobody writes to would be waited for. */
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
/**
 * Of open(2) on Linux: a place, opened without any right to what lies there. Node does not name it.
 */
const O_PATH = 0x20_0000;
/** The rights that the owner of a folder needs to look into it and to empty it. */
export const OWNERS_RIGHTS = 0o700;

export interface OpenFolder {
  readonly handle: FileHandle;
  /** Where it was when it was opened. */
  readonly path: string;
}

/** Where a name in an open folder is reached, whatever has become of the folder's own path. */
export const at = ({ handle, path }: OpenFolder, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : `${path}/${name}`;
/** The same of a name in bytes, which need be no text. */
export const placeOf = (folder: OpenFolder, raw: Buffer): Buffer => Buffer.concat([Buffer.from(at(folder, '')), raw]);
/** Where the open folder itself is reached. */
export const itself = ({ handle, path }: OpenFolder): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;

const STANDS_FOR_BYTES = '\ufffd';
/**
 * The bytes of a name as it was listed: where they are no text, those of the first that reads so.
 */
export async function rawName(folder: OpenFolder, name: string): Promise<Buffer> {
  const own = Buffer.from(name);
  if (!name.includes(STANDS_FOR_BYTES)) return own;
  const names = await readdir(itself(folder), { encoding: 'buffer' });
  return names.find((raw) => raw.equals(own)) ?? names.find((raw) => raw.toString() === name) ?? own;
}

/**
 * Gives the owner of this folder their rights to it. A program may have taken them, and then nobody
 * but root can open the folder or empty it. Never follows a link.
 */
async function giveRights(place: string | Buffer): Promise<void> {
  if (process.platform !== 'linux') return await lchmod(place, OWNERS_RIGHTS);
  const handle = await open(place, O_PATH | constants.O_DIRECTORY | NO_LINKS);
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, OWNERS_RIGHTS);
  } finally {
    await handle.close();
  }
}

/** Opens a folder also where its own rights forbid that to its owner. */
async function openOwned(place: string | Buffer): Promise<FileHandle> {
  try {
    return await open(place, FOLDER);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    await giveRights(place);
    return await open(place, FOLDER);
  }
}

/** Made where it is not there, for its owner alone. */
async function openRoot(path: string): Promise<OpenFolder> {
  await mkdir(path, { recursive: true, mode: OWNERS_RIGHTS });
  return { handle: await openOwned(path), path };
}

/**
 * The folder of this name in another one, to be emptied: its owner has all rights to it afterwards.
 */
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

/** The folder of this name in another one. `make`: where it is not there, it is made. */
export async function step(from: OpenFolder, name: string | Buffer, make = false): Promise<OpenFolder> {
  const raw = typeof name === 'string' ? await rawName(from, name) : name;
  for (;;)
    try {
      return { handle: await open(placeOf(from, raw), FOLDER), path: join(from.path, raw.toString()) };
    } catch (error) {
      if (!make || codeOf(error) !== 'ENOENT') throw error;
      await mkdir(placeOf(from, raw), { mode: OWNERS_RIGHTS }).catch((fault: unknown) => {
        // Somebody else was first.
        if (codeOf(fault) !== 'EEXIST') throw fault;
      });
    }
}

/**
 * The folder at the end of these names, the root where there are none. Whoever asks closes it.
 * Throws `WorkspaceError`.
 */
export async function openWithin(root: string, names: readonly string[], make: boolean): Promise<OpenFolder> {
  let folder = await openRoot(root);
  for (const [i, name] of names.entries()) {
    const before = folder;
    const so = names.slice(0, i + 1);
    try {
      folder = await step(before, name, make);
    } catch (error) {
      // A link or a file where a folder is wanted.
      if (codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP')
        throw new WorkspaceError('not-a-folder', `${so.join('/')} is no folder; links are not followed.`);
      throw missing(error, so);
    } finally {
      await before.handle.close();
    }
  }
  return folder;
}

/** Whoever asked for it closes `file`. `bytes`: its length when it was opened. */
export interface OpenedFile {
  readonly file: FileHandle;
  readonly bytes: number;
}

/** The file of this name. `shown`: its path, for what is said. Throws `WorkspaceError`. */
export async function openFileIn(folder: OpenFolder, raw: Buffer, shown: string): Promise<OpenedFile> {
  try {
    const file = await open(placeOf(folder, raw), FILE);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new WorkspaceError('not-a-file', `${shown} is no file.`);
      // Its other name may lie anywhere on this disk.
      if (found.nlink > 1)
        throw new WorkspaceError('not-a-file', `${shown} has another name besides (a hard link), and is left alone.`);
      return { file, bytes: found.size };
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    throw missing(error, [shown]);
  }
}
