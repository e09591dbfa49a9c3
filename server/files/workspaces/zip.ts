/**
 * Streams a folder as a zip, with everything below the folder. A last file in the zip names the
 * files that could not be included, with the reasons. The zip's comment, at its very end, has their
 * number.
 */
import { promisify } from 'node:util';
import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw, deflateRaw, deflateRawSync } from 'node:zlib';
import { Zip, ZipPassThrough, type ZipInputFile } from 'fflate';
import { leftOutComment, LEFT_OUT_NAME } from '../../../src/shared/protocol/endpoints/workspaces.ts';
import { WorkspaceError, type EntryBelow, type Passed, type Workspace } from './index.ts';
import { readWhole } from './entries.ts';
import type { OpenedFile } from './open-folder.ts';
import { WORKSPACE_LIMITS, type WorkspaceLimits } from './settings.ts';

const CHUNK = 256 * 1024;
/** A file up to this size is faster to compress at once than to stream. */
const SMALL = 4_096;
/** Constants of the zip format. See APPNOTE.TXT of PKWARE, 4.3 and 4.4. */
const DEFLATED = 8;
const END_BYTES = 22;
const END_SIGNATURE = 0x0605_4b50;
const WIDE_END_SIGNATURE = 0x0606_4b50;
const WIDE_END_BYTES = 56;
const LOCATOR_SIGNATURE = 0x0706_4b50;
const LOCATOR_BYTES = 20;
const WIDE_VERSION = 45;
/** The entry count of the old end record when the real one is in the wide record. */
const SAID_ELSEWHERE = 0xffff;
/** The format's times begin in 1980, and the writer's end in 2099. */
const [EARLIEST, LATEST] = [Date.UTC(1980, 0, 2), Date.UTC(2099, 11, 30)];

type Chunk = Uint8Array<ArrayBuffer>;

/** Pieces of an open file, up to its length when it was opened. So a growing file has an end. */
async function* piecesOf({ file, bytes }: OpenedFile): AsyncGenerator<Chunk> {
  for (let at = 0; at < bytes;) {
    const buffer = new Uint8Array(Math.min(CHUNK, bytes - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A file in pieces. It is opened with the first piece and closed with the last. */
export async function* fileStream(open: () => Promise<OpenedFile>): AsyncGenerator<Chunk> {
  const opened = await open();
  try {
    yield* piecesOf(opened);
  } finally {
    await opened.file.close();
  }
}

function whyPassed(why: Passed, { zipEntries, walkedDepth }: ZipLimits): string {
  switch (why) {
    case 'too-many':
      return `a zip holds ${zipEntries.toLocaleString('en')} files and folders at most, and not all that lies here is in it`;
    case 'too-deep':
      return `it lies deeper than ${walkedDepth} folders, and nothing in it is here`;
    case 'closed':
      return 'it cannot be opened, since its rights forbid that, and nothing in it is here';
  }
}

type ZipLimits = Pick<WorkspaceLimits, 'zipBytes' | 'zipEntries' | 'zipNamed' | 'walkedDepth'>;

/** Entries that are missing from a zip, or changed in it. */
interface LeftOut {
  count: number;
  readonly lines: string[];
}

function leftOutText({ count, lines }: LeftOut): string {
  const rest = count - lines.length;
  return [
    `Not all of this folder is in this zip as it lies there. ${count.toLocaleString('en')} in all:`,
    '',
    ...lines,
    ...(rest > 0 ? [`… and ${rest.toLocaleString('en')} more`] : []),
    '',
  ].join('\n');
}

/**
 * Unique names in a zip. If two names would be the same where they are unpacked, the second is
 * renamed.
 */
function createNames() {
  const taken = new Set<string>();
  return (path: string): string => {
    // On Windows a backslash separates folders and a colon follows a drive. Such a name could be
    // unpacked outside the target.
    const wanted = path.replaceAll('\\', '_').replace(/^([A-Za-z]):/, '$1_');
    let name = wanted;
    for (let nth = 2; taken.has(name); nth++) name = `${wanted} (${nth})`;
    taken.add(name);
    return name;
  };
}

/**
 * A file of a zip, compressed by the system's own zlib, which works beside the relay's other work.
 */
interface Packed {
  readonly file: ZipInputFile;
  /** The whole content at once. */
  take(piece: Chunk): Promise<void>;
  /** The whole content. Yields whenever the zip has received data. */
  takeAll(pieces: AsyncIterable<Chunk>): AsyncGenerator<void>;
}

function createPacked(filename: string, mtime: number): Packed {
  const file: ZipInputFile = { filename, mtime, compression: DEFLATED, size: 0, crc: 0 };
  const tell = (packed: Uint8Array, isLast: boolean) => file.ondata?.(null, new Uint8Array(packed), isLast);
  function count(piece: Chunk): Chunk {
    file.size += piece.length;
    file.crc = crc32(piece, file.crc);
    return piece;
  }
  return {
    file,
    async take(piece) {
      const counted = count(piece);
      tell(counted.length <= SMALL ? deflateRawSync(counted) : await promisify(deflateRaw)(counted), true);
    },
    async *takeAll(pieces) {
      const packing = createDeflateRaw();
      async function* counted() {
        for await (const piece of pieces) yield count(piece);
      }
      // Errors are thrown to the reader of `packing`. A reader that stops also ends the pieces.
      pipeline(Readable.from(counted(), { objectMode: false }), packing, () => undefined);
      // The last chunk is marked as final. Any chunk may be the last until the next one arrives.
      let before = new Uint8Array();
      for await (const packed of packing) {
        if (before.length > 0) tell(before, false);
        before = packed;
        yield;
      }
      tell(before, true);
      yield;
    },
  };
}

/**
 * The end of a zip with any number of entries. It replaces the writer's own, which is limited to
 * 65,535.
 */
function endOf(entries: number, directoryBytes: number, directoryAt: number, comment: string): Buffer {
  const words = Buffer.from(comment);
  const wide = Buffer.alloc(WIDE_END_BYTES + LOCATOR_BYTES);
  wide.writeUInt32LE(WIDE_END_SIGNATURE, 0);
  // Size of the record, without its signature and this field.
  wide.writeBigUInt64LE(BigInt(WIDE_END_BYTES - 12), 4);
  wide.writeUInt16LE(WIDE_VERSION, 12);
  wide.writeUInt16LE(WIDE_VERSION, 14);
  wide.writeBigUInt64LE(BigInt(entries), 24);
  wide.writeBigUInt64LE(BigInt(entries), 32);
  wide.writeBigUInt64LE(BigInt(directoryBytes), 40);
  wide.writeBigUInt64LE(BigInt(directoryAt), 48);
  wide.writeUInt32LE(LOCATOR_SIGNATURE, WIDE_END_BYTES);
  wide.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), WIDE_END_BYTES + 8);
  wide.writeUInt32LE(1, WIDE_END_BYTES + 16);
  const end = Buffer.alloc(END_BYTES);
  const said = Math.min(entries, SAID_ELSEWHERE);
  end.writeUInt32LE(END_SIGNATURE, 0);
  end.writeUInt16LE(said, 8);
  end.writeUInt16LE(said, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryAt, 16);
  end.writeUInt16LE(words.length, 20);
  return Buffer.concat([...(entries < SAID_ELSEWHERE ? [] : [wide]), end, words]);
}

/** Each chunk is produced when the one before was consumed. */
export async function* zipOf(
  workspace: Pick<Workspace, 'walk'>,
  path: string,
  limits: ZipLimits = WORKSPACE_LIMITS,
): AsyncGenerator<Uint8Array> {
  const leftOut: LeftOut = { count: 0, lines: [] };
  const leaveOut = (shown: string, why: string): void => {
    leftOut.count += 1;
    if (leftOut.lines.length < limits.zipNamed) leftOut.lines.push(`${JSON.stringify(shown)}: ${why}`);
  };
  const nameOf = createNames();
  const ready: Uint8Array[] = [];
  let directory: Uint8Array = new Uint8Array();
  let [sent, entries] = [0, 0];
  const zip = new Zip((error, chunk, isLast) => {
    if (error) throw error;
    if (isLast) directory = chunk.subarray(0, -END_BYTES);
    else ready.push(chunk);
  });
  function* taken(): Generator<Uint8Array> {
    for (const chunk of ready.splice(0)) {
      sent += chunk.length;
      yield chunk;
    }
  }
  function begin(file: ZipInputFile): void {
    zip.add(file);
    entries += 1;
  }
  const timeOf = ({ changedAt }: Pick<EntryBelow, 'changedAt'>) => Math.min(Math.max(changedAt, EARLIEST), LATEST);

  async function* put(entry: EntryBelow, shown: string): AsyncGenerator<Uint8Array> {
    const opened = await entry.open().catch((error: unknown) => {
      if (!(error instanceof WorkspaceError)) throw error;
      leaveOut(shown, error.kind === 'not-found' ? 'it went away meanwhile' : error.message);
      return null;
    });
    if (!opened) return;
    if (sent + opened.bytes > limits.zipBytes) {
      await opened.file.close();
      return leaveOut(shown, 'a zip holds 4 GB at most, and there is more by now');
    }
    const name = nameOf(shown);
    if (name !== shown) leaveOut(shown, `it is here as ${JSON.stringify(name)}`);
    const { file, take, takeAll } = createPacked(name, timeOf(entry));
    begin(file);
    try {
      if (opened.bytes <= CHUNK) {
        await take(new Uint8Array(await readWhole(opened.file, opened.bytes)));
        yield* taken();
      } else {
        const parts = takeAll(piecesOf(opened));
        try {
          while (!(await parts.next()).done) yield* taken();
        } finally {
          // A consumer that stops also ends the compression.
          await parts.return(undefined);
        }
      }
    } finally {
      await opened.file.close();
    }
    if (file.size < opened.bytes)
      leaveOut(shown, `it became shorter while it was read: ${file.size} of ${opened.bytes} bytes are here`);
  }

  /** A folder without any entry so far. */
  let empty: EntryBelow | null = null;
  function* putEmpty(): Generator<Uint8Array> {
    if (!empty) return;
    const folder = new ZipPassThrough(`${nameOf(empty.path.slice(above))}/`);
    begin(Object.assign(folder, { mtime: timeOf(empty) }));
    empty = null;
    folder.push(new Uint8Array(), true);
    yield* taken();
  }

  const above = path === '' ? 0 : path.replace(/\/+$/, '').lastIndexOf('/') + 1;
  const passed = (where: string, why: Passed) => {
    // Whether it has any content is unknown.
    if (empty?.path === where) empty = null;
    leaveOut(where === '' ? 'the folder' : where.slice(above), whyPassed(why, limits));
  };
  for await (const entry of workspace.walk(path, limits.zipEntries, passed)) {
    const shown = entry.path.slice(above);
    if (empty && entry.path.startsWith(`${empty.path}/`)) empty = null;
    yield* putEmpty();
    switch (entry.kind) {
      case 'file':
        yield* put(entry, shown);
        break;
      case 'folder':
        empty = entry;
        break;
      case 'link':
        leaveOut(shown, 'it is a link, and links are not followed');
        break;
      case 'other':
        leaveOut(shown, 'it is no file but a pipe, a socket or a device');
        break;
    }
  }
  yield* putEmpty();
  if (leftOut.count > 0) {
    const { file, take } = createPacked(nameOf(LEFT_OUT_NAME), Date.now());
    begin(file);
    await take(new Uint8Array(Buffer.from(leftOutText(leftOut))));
    yield* taken();
  }
  zip.end();
  yield directory;
  yield endOf(entries, directory.length, sent, leftOutComment(leftOut.count));
}
