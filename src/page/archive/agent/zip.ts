/**
 * Reads zips from anywhere, by their directory, and trusts none: a file is unpacked only as far as
 * the directory says it goes, all of them together have a bound, and each is checked against its
 * CRC. Source: PKWARE's APPNOTE.TXT, 6.3.10, sections 4.3 and 4.4.
 */
import { Inflate } from 'fflate';
import { fileChunks, joined } from '../bytes.ts';
import { ARCHIVE, ArchiveError } from '../methods.ts';
import { createCrc32 } from '../../../shared/domain/crc32.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export interface ZipEntry {
  /** With `/` between folders. */
  readonly path: string;
  /** Unpacked, as the directory says. */
  readonly bytes: number;
  read(): Promise<Uint8Array>;
}

const END = { mark: 0x06054b50, bytes: 22, commentBytes: 0xffff };
const RECORD = { mark: 0x02014b50, bytes: 46 };
const LOCAL = { mark: 0x04034b50, bytes: 30 };
const FLAG = { locked: 0x0001, utf8: 0x0800 };
const METHOD = { stored: 0, deflated: 8 };

const DAMAGED = sentence`This zip is damaged or not whole. Copy it from where it came once more, or pack the folder again.`;
const TOO_LARGE = sentence`This zip holds more than an agent could be. Pack only the agent’s own folder.`;

const viewOf = async (blob: Blob) => new DataView(await blob.arrayBuffer());

/** Every file in the zip, folders left out. Rejects with an `ArchiveError`. */
export async function zipEntries(file: Blob): Promise<ZipEntry[]> {
  const tailStart = Math.max(0, file.size - END.bytes - END.commentBytes);
  const tail = await viewOf(file.slice(tailStart));
  const end = endIn(tail);
  if (end === null) throw new ArchiveError('damaged', DAMAGED);
  const count = tail.getUint16(end + 10, true);
  const directoryBytes = tail.getUint32(end + 12, true);
  const directoryStart = tail.getUint32(end + 16, true);
  if (count > ARCHIVE.zipEntries) throw new ArchiveError('too-large', TOO_LARGE);
  // Something may stand before the zip: then everything is that much further on.
  const shift = tailStart + end - directoryBytes - directoryStart;
  if (shift < 0) throw new ArchiveError('damaged', DAMAGED);

  const directory = await viewOf(file.slice(directoryStart + shift, directoryStart + shift + directoryBytes));
  const entries: ZipEntry[] = [];
  let [at, total] = [0, 0];
  for (let i = 0; i < count; i += 1) {
    if (at + RECORD.bytes > directory.byteLength || directory.getUint32(at, true) !== RECORD.mark)
      throw new ArchiveError('damaged', DAMAGED);
    const nameBytes = directory.getUint16(at + 28, true);
    const next =
      at + RECORD.bytes + nameBytes + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
    if (next > directory.byteLength) throw new ArchiveError('damaged', DAMAGED);
    const record: Packed = {
      flags: directory.getUint16(at + 8, true),
      method: directory.getUint16(at + 10, true),
      crc: directory.getUint32(at + 16, true),
      packedBytes: directory.getUint32(at + 20, true),
      bytes: directory.getUint32(at + 24, true),
      start: directory.getUint32(at + 42, true) + shift,
    };
    const path = pathOf(new Uint8Array(directory.buffer, at + RECORD.bytes, nameBytes), record.flags);
    at = next;
    total += record.bytes;
    if (total > ARCHIVE.unpackedBytes) throw new ArchiveError('too-large', TOO_LARGE);
    if (!path.endsWith('/')) entries.push({ path, bytes: record.bytes, read: () => unpack(file, record) });
  }
  return entries;
}

/**
 * Where the end record begins: the last one that reaches to the end of the file with its comment.
 */
function endIn(tail: DataView): number | null {
  for (let at = tail.byteLength - END.bytes; at >= 0; at -= 1)
    if (tail.getUint32(at, true) === END.mark && at + END.bytes + tail.getUint16(at + 20, true) === tail.byteLength)
      return at;
  return null;
}

function pathOf(bytes: Uint8Array, flags: number): string {
  const isUtf8 = (flags & FLAG.utf8) !== 0;
  // Many packers write UTF-8 without saying so; what is not UTF-8 only has to be readable.
  try {
    return new TextDecoder('utf-8', { fatal: !isUtf8 }).decode(bytes).replaceAll('\\', '/');
  } catch (error) {
    if (error instanceof TypeError) return new TextDecoder('windows-1252').decode(bytes).replaceAll('\\', '/');
    throw error;
  }
}

interface Packed {
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly start: number;
}

async function unpack(file: Blob, entry: Packed): Promise<Uint8Array> {
  if (entry.flags & FLAG.locked)
    throw new ArchiveError(
      'not-an-archive',
      sentence`This zip is locked with a password of its own. Unpack it with the program that made it, and pack it again without.`,
    );
  if (entry.method !== METHOD.stored && entry.method !== METHOD.deflated)
    throw new ArchiveError(
      'not-an-archive',
      sentence`This zip is packed in a way that Roost cannot read. Pack the folder again as an ordinary zip.`,
    );
  const local = await viewOf(file.slice(entry.start, entry.start + LOCAL.bytes));
  if (local.byteLength < LOCAL.bytes || local.getUint32(0, true) !== LOCAL.mark)
    throw new ArchiveError('damaged', DAMAGED);
  const start = entry.start + LOCAL.bytes + local.getUint16(26, true) + local.getUint16(28, true);
  const packed = file.slice(start, start + entry.packedBytes);
  if (packed.size < entry.packedBytes) throw new ArchiveError('damaged', DAMAGED);

  const parts: Uint8Array[] = [];
  const crc = createCrc32();
  let bytes = 0;
  const take = (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > entry.bytes) throw new ArchiveError('too-large', TOO_LARGE);
    crc.update(part);
    parts.push(part);
  };
  try {
    if (entry.method === METHOD.stored) for await (const chunk of fileChunks(packed)) take(chunk);
    else await inflate(packed, take);
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    throw new ArchiveError('damaged', DAMAGED, { cause: error });
  }
  if (bytes !== entry.bytes || crc.value() !== entry.crc) throw new ArchiveError('damaged', DAMAGED);
  return joined(parts);
}

async function inflate(packed: Blob, take: (part: Uint8Array) => void): Promise<void> {
  const inflater = new Inflate((part) => take(part));
  // In small steps: one step of a bomb must not fill the memory before its size is seen.
  for await (const chunk of fileChunks(packed))
    for (let at = 0; at < chunk.length; at += ARCHIVE.inflateStep)
      inflater.push(chunk.subarray(at, at + ARCHIVE.inflateStep));
  inflater.push(new Uint8Array(0), true);
}
