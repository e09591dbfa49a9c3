/**
 * Reads a folder for a recording. Every step starts at an open folder and follows no link, so
 * nothing outside is ever recorded, whatever a program swaps meanwhile. A file whose stamp is known
 * is not read again.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, readdir, readlink } from 'node:fs/promises';
import type { NotRecorded } from '../../../src/shared/protocol/endpoints/history.ts';
import { codeOf } from '../../platform/errors.ts';
import { itself, type OpenFolder, openThere, placeOf, unfinished, withRights } from '../workspaces/index.ts';
import { EMPTY, type Listing, type Recorded, writtenName } from './listing.ts';
import { createObjectId } from './repository.ts';
import { HISTORY_LIMITS, type HistoryLimits } from './settings.ts';

/** Bytes per read. */
const PIECE = 256 * 1024;
const MODE = 0o777n;

/**
 * Receives contents that are not known. `parts` have `bytes` bytes together. `path`: as written.
 */
export type Store = (object: string, bytes: number, parts: readonly Uint8Array[], path: string) => Promise<void>;

export interface RecordOptions {
  /** The folder as it was recorded before. */
  readonly before: Listing;
  readonly store: Store;
  /** ms since the epoch, before the recording. */
  readonly now: number;
  readonly limits?: HistoryLimits;
  /** Aborts when the recording takes too long. */
  readonly signal: AbortSignal;
}

export const stampOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs, ctimeNs].join(' ');

/** The folder at `path` as it is now. `EMPTY`: there is none. Throws where `signal` aborts. */
export async function recordFolder(path: string, options: RecordOptions): Promise<Listing> {
  const { before, store, now, limits = HISTORY_LIMITS, signal } = options;
  const entries = new Map<string, Recorded>();
  const notRecorded: Omit<NotRecorded, 'folder'>[] = [];
  let moreNotRecorded = 0;
  let entriesLeft = limits.entries;
  const trustedUntil = BigInt(Math.floor(now - limits.racyMs)) * 1_000_000n;

  function leaveOut(where: string, why: NotRecorded['why'], bytes = 0): void {
    if (notRecorded.length < limits.notRecorded) notRecorded.push({ path: where, why, bytes });
    else moreNotRecorded += 1;
  }
  const permissions = ({ mode }: BigIntStats) => Number(mode & MODE);
  const trusted = (found: BigIntStats) =>
    found.mtimeNs < trustedUntil && found.ctimeNs < trustedUntil ? stampOf(found) : '';

  async function readFile(folder: OpenFolder, raw: Buffer, where: string, stats: BigIntStats): Promise<void> {
    const mode = permissions(stats);
    await withRights(folder, raw, { kind: 'file', mode }, async (handle) => {
      const opened = await handle.stat({ bigint: true });
      if (!opened.isFile()) return leaveOut(where, 'special');
      const read = await contentOf(handle, Number(opened.size), limits.fileBytes, signal);
      if (read === null) return leaveOut(where, 'large', Number(opened.size));
      const { parts, bytes } = read;
      const id = createObjectId(bytes);
      for (const part of parts) id.update(part);
      const object = id.digest('hex');
      await store(object, bytes, parts, where);
      const after = await handle.stat({ bigint: true });
      const stamp = stampOf(opened) === stampOf(after) ? trusted(after) : '';
      entries.set(where, { path: where, kind: 'file', mode, object, bytes, stamp });
    });
  }

  async function readLink(folder: OpenFolder, raw: Buffer, where: string, stats: BigIntStats): Promise<void> {
    const target = await readlink(placeOf(folder, raw), 'buffer');
    const object = createObjectId(target.length).update(target).digest('hex');
    await store(object, target.length, [target], where);
    entries.set(where, { path: where, kind: 'link', mode: 0, object, bytes: 0, stamp: trusted(stats) });
  }

  /** Anything that disappears or changes its kind meanwhile is left for the next recording. */
  const orGone = (where: string) => (error: unknown) => {
    const code = codeOf(error);
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO'].includes(code)) return;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    leaveOut(where, 'closed');
  };

  async function walk(folder: OpenFolder, above: string, depth: number): Promise<void> {
    const names = await readdir(itself(folder), { encoding: 'buffer' });
    const inner: { readonly raw: Buffer; readonly path: string; readonly mode: number }[] = [];
    let together: (() => Promise<void>)[] = [];
    const readTogether = async () => {
      const all = together;
      together = [];
      await Promise.all(all.map((read) => read()));
    };
    async function read(raw: Buffer): Promise<void> {
      if (unfinished.has(raw.toString())) return;
      const stats = await lstat(placeOf(folder, raw), { bigint: true });
      const where = above + writtenName(raw);
      if (entriesLeft <= 0) return leaveOut(where, 'many');
      entriesLeft -= 1;
      if (stats.isDirectory()) return void inner.push({ raw, path: where, mode: permissions(stats) });
      const knownFile = before.entries.get(where);
      const isKnown = knownFile !== undefined && knownFile.stamp !== '' && knownFile.stamp === stampOf(stats);
      if (stats.isSymbolicLink()) {
        if (isKnown && knownFile.kind === 'link') return void entries.set(where, knownFile);
        return void together.push(() => readLink(folder, raw, where, stats).catch(orGone(where)));
      }
      if (!stats.isFile()) return leaveOut(where, 'special');
      const bytes = Number(stats.size);
      if (bytes > limits.fileBytes) return leaveOut(where, 'large', bytes);
      if (isKnown && knownFile.kind === 'file')
        return void entries.set(where, { ...knownFile, mode: permissions(stats) });
      const read = () => readFile(folder, raw, where, stats).catch(orGone(where));
      if (bytes > limits.readTogetherBytes) long.push(read);
      else together.push(read);
    }
    const long: (() => Promise<void>)[] = [];
    for (let from = 0; from < names.length; from += limits.readAtOnce) {
      signal.throwIfAborted();
      const some = names.slice(from, from + limits.readAtOnce);
      await Promise.all(some.map((raw) => read(raw).catch(orGone(above + writtenName(raw)))));
      await readTogether();
      for (const read of long.splice(0)) await read();
    }
    for (const { raw, path: where, mode } of inner) {
      if (depth >= limits.depth) {
        leaveOut(where, 'deep');
        continue;
      }
      const enter = (handle: FileHandle) => walk({ handle, path: `${folder.path}/${raw}` }, `${where}/`, depth + 1);
      entries.set(where, { path: where, kind: 'folder', mode, object: '', bytes: 0, stamp: '' });
      await withRights(folder, raw, { kind: 'folder', mode }, enter).catch((error: unknown) => {
        if (signal.aborted) throw error;
        entries.delete(where);
        orGone(where)(error);
      });
    }
  }

  const root = await openThere(path);
  if (!root) return EMPTY;
  try {
    await walk(root, '', 0);
  } finally {
    await root.handle.close();
  }
  notRecorded.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { entries, notRecorded, moreNotRecorded };
}

/** Null: it is longer than `most`, as it may have grown. */
async function contentOf(
  handle: FileHandle,
  size: number,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly parts: readonly Buffer[]; readonly bytes: number } | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    // One byte more than it was long: most files end with the first read.
    const piece = Buffer.allocUnsafe(Math.min(PIECE, Math.max(size - bytes, 0) + 1));
    const { bytesRead } = await handle.read(piece, 0, piece.length, bytes);
    if (bytesRead > 0) parts.push(piece.subarray(0, bytesRead));
    bytes += bytesRead;
    if (bytes > most) return null;
    // A short read means the end of the file.
    if (bytesRead < piece.length) return { parts, bytes };
  }
}
