/**
 * Reads zips of unknown origin. The library reads the format and checks each file against its CRC.
 * This module sets the limits: the number of files, the bytes of each file as its directory entry
 * states them, and the bytes of all files together. Paths are only names for lookup, and nothing is
 * ever written to one.
 */
import {
  BlobReader,
  configure,
  ERR_ENCRYPTED,
  ERR_INVALID_UNCOMPRESSED_SIZE,
  ERR_UNSUPPORTED_COMPRESSION,
  ERR_UNSUPPORTED_ENCRYPTION,
  Uint8ArrayWriter,
  ZipReader,
  type FileEntry,
} from '@zip.js/zip.js/lib/zip-core-custom.js';
import { ARCHIVE, ArchiveError, unreadableFile } from '../methods.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export interface ZipEntry {
  /** With `/` between folders. */
  readonly path: string;
  /** Uncompressed size according to the directory. */
  readonly bytes: number;
  read(): Promise<Uint8Array>;
}

/** The method of an uncompressed file. */
const STORED = 0;

// This already runs in a worker, and the page's policy forbids further ones.
configure({ useWebWorkers: false });

const DAMAGED = sentence`This zip is damaged or not whole. Copy it from where it came once more, or pack the folder again.`;
const TOO_LARGE = sentence`This zip holds more than an agent could be. Pack only the agent’s own folder.`;
const LOCKED = sentence`This zip is locked with a password of its own. Unpack it with the program that made it, and pack it again without.`;
const OTHER_METHOD = sentence`This zip is packed in a way that Roost cannot read. Pack the folder again as an ordinary zip.`;

function problemOf(error: unknown): ArchiveError {
  const unreadable = unreadableFile(error);
  if (unreadable) return unreadable;
  if (error instanceof ArchiveError) return error;
  const message = error instanceof Error ? error.message : '';
  if (message === ERR_ENCRYPTED || message === ERR_UNSUPPORTED_ENCRYPTION)
    return new ArchiveError('not-an-archive', LOCKED, { cause: error });
  if (message === ERR_UNSUPPORTED_COMPRESSION)
    return new ArchiveError('not-an-archive', OTHER_METHOD, { cause: error });
  // A compressed file is cut off if it is longer than its directory entry says.
  if (message === ERR_INVALID_UNCOMPRESSED_SIZE) return new ArchiveError('too-large', TOO_LARGE, { cause: error });
  return new ArchiveError('damaged', DAMAGED, { cause: error });
}

/**
 * Only the central directory counts, as in common zip programs. A local header that differs is
 * ignored.
 */
const OPTIONS = { filenameValidation: 'tolerant', checkLocalDirectory: false, checkCrc32: true } as const;

/** Every file in the zip, without folders. Rejects with an `ArchiveError`. */
export async function zipEntries(file: Blob): Promise<ZipEntry[]> {
  const zip = new ZipReader(new BlobReader(file), OPTIONS);
  const entries: ZipEntry[] = [];
  let [count, total] = [0, 0];
  try {
    for await (const entry of zip.getEntriesGenerator()) {
      count += 1;
      total += entry.uncompressedSize;
      if (count > ARCHIVE.zipEntries || total > ARCHIVE.unpackedBytes) throw new ArchiveError('too-large', TOO_LARGE);
      const path = entry.filename.replaceAll('\\', '/');
      if (!entry.directory) entries.push({ path, bytes: entry.uncompressedSize, read: () => unpack(entry) });
    }
  } catch (error) {
    throw problemOf(error);
  }
  return entries;
}

async function unpack(entry: FileEntry): Promise<Uint8Array> {
  const isStored = entry.compressionMethod === STORED && !entry.encrypted;
  if (isStored && entry.compressedSize !== entry.uncompressedSize) throw new ArchiveError('damaged', DAMAGED);
  try {
    return await entry.getData(new Uint8ArrayWriter());
  } catch (error) {
    throw problemOf(error);
  }
}
