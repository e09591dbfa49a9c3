/**
 * What lies at a place in a workspace, with a mark by which every later change of it is noticed.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readlink, type FileHandle } from 'node:fs/promises';
import { codeOf } from '../../platform/error-code.ts';
import { entriesBelow, type Entry } from './entries.ts';
import { NO_LINKS, placeOf, step, type OpenFolder } from './open-folder.ts';

const FILE = constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS;
/** Bytes that are read at once. */
const CHUNK = 256 * 1024;

export interface Lies {
  readonly kind: Entry['kind'] | 'none';
  /** Of a file, or of all files below a folder; else 0. */
  readonly bytes: number;
  /** Files and folders below a folder; else 0. */
  readonly entries: number;
  /** The same as long as the same lies there. */
  readonly mark: string;
  /** What is in a file that is short enough; else null. */
  readonly content: Buffer | null;
}

export interface LiesLimits {
  /**
   * Bytes of a file up to which its mark is its content. The mark of a longer one is its inode,
   * size and times.
   */
  readonly hashedBytes: number;
  /** Bytes up to which `content` is given. */
  readonly contentBytes: number;
  /** Files and folders below a folder that are looked at, and how deep. */
  readonly entries: number;
  readonly deepest: number;
}

export const NOTHING: Lies = { kind: 'none', bytes: 0, entries: 0, mark: 'none', content: null };

export const contentMark = (content: Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/**
 * All of an open file, as long as it was when it was opened: one that grows meanwhile has an end.
 */
export async function readWhole(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  let read = 0;
  while (read < bytes) {
    const { bytesRead } = await file.read(buffer, read, bytes - read, read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/** The mark of the content of an open file, whatever its length. */
export async function hashOfFile(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(CHUNK);
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) return `sha256:${hash.digest('hex')}`;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function folderLies(folder: OpenFolder, raw: Buffer, limits: LiesLimits): Promise<Lies> {
  const hash = createHash('sha256');
  let [bytes, entries] = [0, 0];
  const passed = (path: string, why: string) => void hash.update(JSON.stringify([path, why]));
  const inner = await step(folder, raw);
  try {
    const walk = { left: limits.entries, deepest: limits.deepest, passed };
    for await (const entry of entriesBelow(inner, '', walk)) {
      hash.update(JSON.stringify([entry.path, entry.kind, entry.stamp]));
      bytes += entry.bytes;
      entries += 1;
    }
  } finally {
    await inner.handle.close();
  }
  return { kind: 'folder', bytes, entries, mark: `folder:${hash.digest('hex')}`, content: null };
}

/** `raw`: the bytes of the name. Links are not followed. */
export async function liesIn(folder: OpenFolder, raw: Buffer, limits: LiesLimits): Promise<Lies> {
  const place = placeOf(folder, raw);
  try {
    const found = await lstat(place, { bigint: true });
    const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
    const bytes = Number(found.size);
    const as = (kind: Entry['kind'], mark: string): Lies => ({ ...NOTHING, kind, mark });
    if (found.isSymbolicLink()) return as('link', `link:${(await readlink(place, 'buffer')).toString('hex')}`);
    if (found.isDirectory()) return await folderLies(folder, raw, limits);
    if (!found.isFile()) return as('other', `other:${stamp}`);
    if (bytes > limits.hashedBytes) return { ...as('file', `stamp:${stamp}`), bytes };
    const file = await open(place, FILE);
    try {
      if (bytes > limits.contentBytes) return { ...as('file', await hashOfFile(file)), bytes };
      const content = await readWhole(file, bytes);
      return { kind: 'file', bytes: content.length, entries: 0, mark: contentMark(content), content };
    } finally {
      await file.close();
    }
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        return NOTHING;
      case 'EACCES':
      case 'EPERM':
        return { ...NOTHING, kind: 'other', mark: 'closed' };
      default:
        throw error;
    }
  }
}
