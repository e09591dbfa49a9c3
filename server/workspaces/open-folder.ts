/**
 * Folders that are held open. Every step from one is taken from it, and never through a link: whatever another program
 * swaps meanwhile, where a step leads to lies in the folder that was opened. Linux gives that by `/proc/self/fd` (as
 * `openat` with `O_NOFOLLOW` does), macOS by `O_NOFOLLOW_ANY`; see open(2) of either.
 */
import { constants } from 'node:fs';
import { chmod, lchmod, mkdir, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import { missing, WorkspaceError } from './errors.ts';

/** Of open(2) on macOS: no link anywhere in the path. Node does not name it. */
const O_NOFOLLOW_ANY = 0x2000_0000;
export const NO_LINKS = process.platform === 'darwin' ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS;

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
/** The bytes of a name as it was listed: where they are no text, those of the first that reads so. */
export async function rawName(folder: OpenFolder, name: string): Promise<Buffer> {
  const own = Buffer.from(name);
  if (!name.includes(STANDS_FOR_BYTES)) return own;
  const names = await readdir(itself(folder), { encoding: 'buffer' });
  return names.find((raw) => raw.equals(own)) ?? names.find((raw) => raw.toString() === name) ?? own;
}

const OWNERS = 0o700;

/** Made where it is not there, for its owner alone. A command may have taken its rights away; they are given back. */
async function openRoot(path: string): Promise<OpenFolder> {
  await mkdir(path, { recursive: true, mode: OWNERS });
  try {
    return { handle: await open(path, FOLDER), path };
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    await chmod(path, OWNERS);
    return { handle: await open(path, FOLDER), path };
  }
}

/** Of open(2) on Linux: needs no right to what is opened. Node does not name it. */
const O_PATH = 0x20_0000;
/** Gives the owner all rights to a folder in an open one. A link in its place is not followed. */
export async function openUp(from: OpenFolder, name: Buffer): Promise<void> {
  if (process.platform !== 'linux') return await lchmod(placeOf(from, name), OWNERS);
  const handle = await open(placeOf(from, name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, OWNERS);
  } finally {
    await handle.close();
  }
}

/** The folder of this name in another one. `make`: where it is not there, it is made. */
export async function step(from: OpenFolder, name: string | Buffer, make = false): Promise<OpenFolder> {
  const raw = typeof name === 'string' ? await rawName(from, name) : name;
  for (;;)
    try {
      return { handle: await open(placeOf(from, raw), FOLDER), path: join(from.path, raw.toString()) };
    } catch (error) {
      if (!make || codeOf(error) !== 'ENOENT') throw error;
      await mkdir(placeOf(from, raw), { mode: 0o700 }).catch((fault: unknown) => {
        // Somebody else was first.
        if (codeOf(fault) !== 'EEXIST') throw fault;
      });
    }
}

/** The folder at the end of these names, the root where there are none. Whoever asks closes it. Throws `WorkspaceError`. */
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
