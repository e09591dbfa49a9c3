/** Reads zips of unknown origin, and decodes their texts. */
import {
  BlobReader,
  configure,
  ERR_ENCRYPTED,
  ERR_INVALID_UNCOMPRESSED_SIZE,
  ERR_UNSUPPORTED_COMPRESSION,
  ERR_UNSUPPORTED_ENCRYPTION,
  type FileEntry,
  Uint8ArrayWriter,
  ZipReader,
} from '@zip.js/zip.js/lib/zip-core-custom.js';
import { sentence } from '../../shared/domain/names.ts';
import { ExportError, unreadableFile } from './methods.ts';

// The library reads the format and checks each file against its CRC.
// This module sets the limits: the number of files, the bytes of each file as its directory entry
// states them, and the bytes of all files together. Paths are only names for lookup, and nothing is
// ever written to one.

export interface ZipEntry {
  /** With `/` between folders. */
  readonly path: string;
  /** Uncompressed size according to the directory. */
  readonly bytes: number;
  /** Time in the directory of the zip, in ms since the epoch. */
  readonly modifiedAt: number;
  read(): Promise<Uint8Array>;
  /**
   * The same bytes one chunk after the other, for files that do not fit into memory. Rejects with
   * an `ArchiveError`.
   */
  chunks(): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface ZipLimits {
  /** Number of files. */
  readonly entries: number;
  /** Bytes of all files together, unpacked. */
  readonly unpackedBytes: number;
  /** What the person reads if the zip is beyond these limits. */
  readonly tooLarge: string;
}

/** The method of an uncompressed file. */
const STORED = 0;

// This already runs in a worker, and the page's policy forbids further ones.
configure({ useWebWorkers: false });

const DAMAGED = sentence`This zip cannot be read. Copy it again, or pack the folder again as an ordinary zip.`;
const LOCKED = sentence`This zip has a password. Unpack it with the program that made it, and pack it again without one.`;

function problemOf(error: unknown, tooLarge: string): ExportError {
  const unreadable = unreadableFile(error);
  if (unreadable) return unreadable;
  if (error instanceof ExportError) return error;
  const message = error instanceof Error ? error.message : '';
  if (message === ERR_ENCRYPTED || message === ERR_UNSUPPORTED_ENCRYPTION)
    return new ExportError('not-an-export', LOCKED, { cause: error });
  if (message === ERR_UNSUPPORTED_COMPRESSION) return new ExportError('not-an-export', DAMAGED, { cause: error });
  // A compressed file is cut off if it is longer than its directory entry says.
  if (message === ERR_INVALID_UNCOMPRESSED_SIZE) return new ExportError('too-large', tooLarge, { cause: error });
  return new ExportError('damaged', DAMAGED, { cause: error });
}

/**
 * Only the central directory counts, as in common zip programs. A local header that differs is
 * ignored.
 */
const OPTIONS = { filenameValidation: 'tolerant', checkLocalDirectory: false, checkCrc32: true } as const;

/** Every file in the zip, without folders. Rejects with an `ExportError`. */
export async function zipEntries(file: Blob, limits: ZipLimits): Promise<ZipEntry[]> {
  const zip = new ZipReader(new BlobReader(file), OPTIONS);
  const entries: ZipEntry[] = [];
  let [count, total] = [0, 0];
  try {
    for await (const entry of zip.getEntriesGenerator()) {
      count += 1;
      total += entry.uncompressedSize;
      if (count > limits.entries || total > limits.unpackedBytes) throw new ExportError('too-large', limits.tooLarge);
      const path = entry.filename.replaceAll('\\', '/');
      if (entry.directory) continue;
      entries.push({
        path,
        bytes: entry.uncompressedSize,
        modifiedAt: entry.lastModDate.getTime(),
        read: () => unpack(entry, limits.tooLarge),
        chunks: () => unpackChunks(entry, limits.tooLarge),
      });
    }
  } catch (error) {
    throw problemOf(error, limits.tooLarge);
  }
  return entries;
}

function assertWhole(entry: FileEntry): void {
  const isStored = entry.compressionMethod === STORED && !entry.encrypted;
  if (isStored && entry.compressedSize !== entry.uncompressedSize) throw new ExportError('damaged', DAMAGED);
}

async function unpack(entry: FileEntry, tooLarge: string): Promise<Uint8Array> {
  assertWhole(entry);
  try {
    return await entry.getData(new Uint8ArrayWriter());
  } catch (error) {
    throw problemOf(error, tooLarge);
  }
}

async function* unpackChunks(entry: FileEntry, tooLarge: string): AsyncGenerator<Uint8Array, void, undefined> {
  assertWhole(entry);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // The reader gets the error of the unpacking.
  entry.getData(writable).catch(async (error: unknown) => await writable.abort(error).catch(() => undefined));
  const reader = readable.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    throw problemOf(error, tooLarge);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

// Decodes text files as editors save them.

interface ReadText {
  /** Without a byte order mark, and with \n line endings. */
  readonly text: string;
  /** Neither UTF-8 nor UTF-16: decoded as Windows-1252. */
  readonly isOther: boolean;
}

export const withPlainLines = (text: string) => text.replace(/\r\n?/g, '\n');

/** null: these bytes are not text. */
export function readText(bytes: Uint8Array): ReadText | null {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
  if (utf16) return { text: withPlainLines(new TextDecoder(utf16).decode(bytes)), isOther: false };
  try {
    return { text: withPlainLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), isOther: false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    if (bytes.includes(0)) return null;
    return { text: withPlainLines(new TextDecoder('windows-1252').decode(bytes)), isOther: true };
  }
}
