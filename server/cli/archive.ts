/**
 * A home as one file, and back: a tar, compressed, and encrypted by age under a passphrase. `age -d
 * FILE | tar xz` opens one without Roost.
 *
 * Invariants:
 * - A file appears under its name when it is whole and on disk.
 * - A home appears under its name when all of it was read and its seal was checked.
 * - `backup.json` comes first in the archive. It says who can read the rest.
 */
import { Buffer } from 'node:buffer';
import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  constants,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { z } from 'zod';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { codeOf, StartError } from '../platform/errors.ts';
import { createFolderBeside } from '../startup/home.ts';
import { unfinished } from '../platform/whole-file.ts';
import { MIGRATIONS, STORE_FILE } from '../store/index.ts';
import { readTar, type TarEntry, TarError, type TarFile, writeTar } from './tar.ts';

/** Raise it when an older Roost cannot restore what this one writes. */
const FORMAT = 1;
const ABOUT = 'backup.json';
const STORE = `store/${STORE_FILE}`;
/** First line of every age file. */
const MAGIC = 'age-encryption.org/v1\n';
/** Left out: what only a running relay needs, and the store, of which a copy is made. */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  'store',
  'copies',
  'logs',
  'processes',
  'relay.pid',
  'relay.sock',
]);
/** Bytes up to which a file is held in memory. A larger one is copied first, as it may change. */
const SMALL = 16_000_000;
const BLOCK = 65_536;

const aboutSchema = z.object({
  format: z.number(),
  version: z.string(),
  /** ms since the epoch. */
  at: z.number(),
  store: z.enum(['sqlite', 'postgres', 'none']),
  /** Steps that the store has taken. */
  steps: z.array(z.string()),
});
export type BackupAbout = z.infer<typeof aboutSchema>;

const UNCHANGED = 'Nothing was changed.';

// What is in a home.

const bodyOf = (bytes: Buffer): AsyncIterable<Buffer> => Readable.from(bytes.length === 0 ? [] : [bytes]);
const fileEntry = (path: string, mode: number, bytes: Buffer): TarFile => ({
  ...{ kind: 'file', path, mode, size: bytes.length, target: '' },
  body: bodyOf(bytes),
});

/**
 * In an order in which git may write meanwhile: refs before the objects that they name, and loose
 * objects before packs, into which git moves them.
 */
function inOrder(names: readonly string[]): string[] {
  const late = (name: string) => ['refs', 'packed-refs', 'objects', 'pack'].indexOf(name);
  return [...names].sort((a, b) => late(a) - late(b) || (a < b ? -1 : 1));
}

interface Walk {
  readonly home: string;
  /** A folder for copies of large files. */
  readonly copies: string;
  /** A path that could not be read. */
  readonly onLeftOut: (path: string) => void;
}

async function* largeFile(path: string, from: string, mode: number, { copies }: Walk): AsyncGenerator<TarFile> {
  const copy = join(copies, 'large');
  await copyFile(from, copy, constants.COPYFILE_FICLONE);
  try {
    const { size } = await stat(copy);
    yield { kind: 'file', path, mode, size, target: '', body: createReadStream(copy) };
  } finally {
    await rm(copy, { force: true });
  }
}

async function* entryOf(path: string, stats: Stats, walk: Walk): AsyncGenerator<TarFile> {
  const at = join(walk.home, path);
  const mode = stats.mode & 0o777;
  if (stats.isSymbolicLink())
    yield { kind: 'link', path, mode, size: 0, target: await readlink(at), body: bodyOf(Buffer.alloc(0)) };
  else if (stats.isDirectory()) {
    const names = await readdir(at);
    yield { kind: 'folder', path, mode, size: 0, target: '', body: bodyOf(Buffer.alloc(0)) };
    for (const name of inOrder(names)) yield* entriesAt(`${path}/${name}`, walk);
  } else if (stats.isFile() && stats.size <= SMALL) yield fileEntry(path, mode, await readFile(at));
  else if (stats.isFile()) yield* largeFile(path, at, mode, walk);
  // Sockets and the like cannot be copied, and mean nothing without their process.
}

/** What is at this path of the home, and below. Nothing where it was removed meanwhile. */
async function* entriesAt(path: string, walk: Walk): AsyncGenerator<TarFile> {
  try {
    yield* entryOf(path, await lstat(join(walk.home, path)), walk);
  } catch (error) {
    const gone = codeOf(error) === 'ENOENT' && !path.includes('\uFFFD');
    if (!gone && !['EACCES', 'EPERM', 'ENOENT'].includes(codeOf(error))) throw error;
    if (!gone) walk.onLeftOut(path);
  }
}

async function* entriesOf(about: BackupAbout, storeCopy: string | null, walk: Walk): AsyncGenerator<TarFile> {
  yield fileEntry(ABOUT, 0o600, Buffer.from(`${JSON.stringify(about, null, 2)}\n`));
  if (storeCopy !== null) {
    const { size } = await stat(storeCopy);
    yield { kind: 'folder', path: 'store', mode: 0o700, size: 0, target: '', body: bodyOf(Buffer.alloc(0)) };
    yield { kind: 'file', path: STORE, mode: 0o600, size, target: '', body: createReadStream(storeCopy) };
  }
  for (const name of inOrder(await readdir(walk.home)))
    if (!LEFT_OUT.has(name) && !name.endsWith('.new')) yield* entriesAt(name, walk);
}

// Out.

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface ArchiveOptions {
  readonly about: BackupAbout;
  /** The home's real path. */
  readonly home: string;
  /** A copy of the store that nobody writes to. Null: there is none in the home. */
  readonly storeCopy: string | null;
  /** An empty folder on the home's disk. */
  readonly copies: string;
  readonly file: string;
  readonly passphrase: string;
}

/** Writes the file. Resolves with its bytes, and with paths that could not be read. */
export async function writeArchive(options: ArchiveOptions): Promise<{ bytes: number; leftOut: readonly string[] }> {
  const { about, home, storeCopy, copies, file, passphrase } = options;
  const leftOut: string[] = [];
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  const entries = entriesOf(about, storeCopy, { home, copies, onLeftOut: (path) => void leftOut.push(path) });
  const compressed = createGzip();
  const compressing = pipeline(writeTar(entries), compressed);
  try {
    const sealed = await encrypter.encrypt(Readable.toWeb(compressed) as ReadableStream<Uint8Array>);
    const out = createWriteStream(unfinished(file), { flags: 'w', mode: 0o600, flush: true });
    await Promise.all([compressing, pipeline(sealed as unknown as AsyncIterable<Uint8Array>, out)]);
    await rename(unfinished(file), file);
    if (process.platform !== 'win32') await flush(dirname(file));
    return { bytes: (await stat(file)).size, leftOut };
  } catch (error) {
    compressed.destroy();
    await compressing.catch(() => undefined);
    await rm(unfinished(file), { force: true }).catch(() => undefined);
    throw isOfDisk(error) ? notWritten(file, error) : error;
  }
}

// Back.

const damaged = (file: string, cause: unknown) =>
  new StartError(`${file} is damaged, or not all of it is there. ${UNCHANGED}`, 1, { cause });

async function checkMagic(file: string): Promise<void> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw new StartError(`${file} cannot be read: ${errorMessage(error)}. ${UNCHANGED}`, 1, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (buffer.subarray(0, bytesRead).toString('latin1') !== MAGIC)
      throw new StartError(`${file} is no backup of Roost. ${UNCHANGED}`);
  } finally {
    await handle.close();
  }
}

async function* opened(file: string, passphrase: string): AsyncGenerator<Buffer> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const sealed = Readable.toWeb(createReadStream(file, { highWaterMark: BLOCK })) as ReadableStream<Uint8Array>;
  const plain = await decrypter.decrypt(sealed).catch((error: unknown) => {
    if (/no identity matched/.test(errorMessage(error)))
      throw new StartError(`The passphrase is not that of ${file}. ${UNCHANGED}`, 1, { cause: error });
    throw error;
  });
  const compressed = createGunzip();
  const reading = pipeline(plain as unknown as AsyncIterable<Uint8Array>, compressed);
  // Its failure also ends the loop below.
  reading.catch(() => undefined);
  for await (const chunk of compressed) yield chunk as Buffer;
  await reading;
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Throws where this Roost cannot use the rest of the archive. */
function checkAbout(file: string, text: string): BackupAbout {
  const value: unknown = JSON.parse(text);
  const about = aboutSchema.safeParse(value);
  const format = z.object({ format: z.number() }).safeParse(value);
  const newer = about.success
    ? about.data.format > FORMAT || about.data.steps.some((step) => !(step in MIGRATIONS))
    : format.success && format.data.format > FORMAT;
  if (newer) throw new StartError(`${file} was made by a newer Roost. Update this one first. ${UNCHANGED}`);
  return aboutSchema.parse(value);
}

/** Throws for a path that would leave the folder. */
function checkPath({ path }: TarEntry): void {
  const parts = path.split('/');
  if (path.includes('\0') || path.includes('\\') || parts.some((part) => ['', '.', '..'].includes(part)))
    throw new TarError(`the archive has an entry with the name ${path}`);
}

async function extract(file: string, passphrase: string, folder: string): Promise<BackupAbout> {
  let about: BackupAbout | null = null;
  // Made last, so that no file is written through one.
  const links: TarEntry[] = [];
  for await (const entry of readTar(opened(file, passphrase))) {
    if (about === null) {
      if (entry.path !== ABOUT) throw new TarError('the archive is not of a home');
      about = checkAbout(file, await textOf(entry.body));
      continue;
    }
    checkPath(entry);
    const path = join(folder, entry.path);
    if (entry.kind === 'link') links.push(entry);
    else if (entry.kind === 'folder') await mkdir(path, { mode: 0o700 });
    else {
      await pipeline(entry.body, createWriteStream(path, { flags: 'wx', flush: true }));
      await chmod(path, 0o600 | (entry.mode & 0o100));
    }
  }
  for (const { path, target } of links) await symlink(target, join(folder, path));
  if (about === null) throw new TarError('the archive is empty');
  return about;
}

/** Errors of the place that is written to, and not of the backup. */
const OF_DISK = ['ENOSPC', 'EDQUOT', 'EROFS', 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'EACCES', 'EPERM', 'EIO', 'EXDEV'];
const isOfDisk = (error: unknown) => OF_DISK.includes(codeOf(error));
function notWritten(place: string, error: unknown): StartError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
  const why = isFull ? `The disk of ${place} is full` : `${place} cannot be written: ${errorMessage(error)}`;
  return new StartError(`${why}. ${UNCHANGED}`, 1, { cause: error });
}

/** Whether nothing is there, or an empty folder. */
async function isFree(home: string): Promise<boolean> {
  try {
    return (await readdir(home)).length === 0;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

/**
 * Puts the home back under this path, which must be free. Throws `StartError`, and has changed
 * nothing then.
 */
export async function readArchive(file: string, passphrase: () => Promise<string>, home: string): Promise<BackupAbout> {
  const place = await realpath(home).catch(() => home);
  if (!(await isFree(place)))
    throw new StartError(`The home ${place} is not empty. Name an empty one with --home. ${UNCHANGED}`);
  await checkMagic(file);
  const words = await passphrase();
  const folder = await createFolderBeside(place, 'restoring').catch((error: unknown) => {
    throw notWritten(place, error);
  });
  try {
    const about = await extract(file, words, folder);
    await rmdir(place).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    await rename(folder, place);
    if (process.platform !== 'win32') await flush(dirname(place));
    return about;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (error instanceof StartError) throw error;
    throw isOfDisk(error) ? notWritten(place, error) : damaged(file, error);
  }
}

/** What this Roost says of a backup that it makes now. */
export const aboutNow = (version: string, store: BackupAbout['store'], at: number): BackupAbout => ({
  ...{ format: FORMAT, version, at, store },
  steps: Object.keys(MIGRATIONS),
});
