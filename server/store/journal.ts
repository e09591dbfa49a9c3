/**
 * A write-ahead journal beside the embedded store: what is put here is on disk after one flush of
 * one file, while a statement costs Postgres a multiple of that. Whoever keeps one puts what it
 * holds into the tables later, many records at a time, then lets it begin anew; after a kill or a
 * power cut it finds here what had not come so far.
 *
 * The file never changes its length, so a flush has no folder or length to write. It is written
 * from the beginning again and again: every time around has a tag of its own, by which what is left
 * of the time before is known. A record is its length, the CRC-32 of the rest, the tag, and the
 * payload. One that was torn does not fit its CRC, and was never acknowledged; nothing counts that
 * follows it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { codeOf } from '../platform/error-code.ts';

/** Bytes of a journal. What does not fit goes into the tables at once. */
const JOURNAL_BYTES = 2 ** 20;
const FOLDER = 'roost_journal';
const TAG_BYTES = 8;
const HEAD_BYTES = 8 + TAG_BYTES;

export interface Journal {
  /** What was there when it was opened, oldest first: some of it may be in the tables already. */
  readonly found: readonly Buffer[];
  /**
   * Resolves when the record is on disk: true; false where there is no room. One at a time, and not
   * before what was found is in the tables. Rejects where the disk fails, and has no room from then
   * on: what a flush that failed has left behind is not known.
   */
  write(record: Buffer): Promise<boolean>;
  /** Everything so far is in the tables, on disk: its room may be used again. */
  beginAnew(): void;
  close(): Promise<void>;
}

/** Opens the journal of this name, made where it is missing. Names are those of logs: ids. */
export type OpenJournal = (name: string) => Promise<Journal>;

async function flushFolder(path: string): Promise<void> {
  // Windows has no folders that could be flushed.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Its bytes are written and not just reserved: a first write into reserved room changes the file's
 * description too.
 */
async function makeFile(path: string, bytes: number): Promise<void> {
  const made = await open(`${path}.making`, 'w', 0o600);
  try {
    await made.writeFile(Buffer.alloc(bytes));
    await made.sync();
  } finally {
    await made.close();
  }
  await rename(`${path}.making`, path);
  await flushFolder(dirname(path));
}

function recordsOf(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let tag: Buffer | null = null;
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length || end === at + HEAD_BYTES) break;
    const own = bytes.subarray(at + 8, at + HEAD_BYTES);
    if ((tag && !own.equals(tag)) || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break;
    tag = own;
    found.push(bytes.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return found;
}

async function openFile(path: string, bytes: number): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  await makeFile(path, bytes);
  return await open(path, 'r+');
}

/** The journals of the store in `folder`: they lie in it, so that a copy of the store has them. */
export function journalsIn(
  folder: string,
  bytes: number = JOURNAL_BYTES,
  newTag: () => Buffer = () => randomBytes(TAG_BYTES),
): OpenJournal {
  return async (name) => {
    const journals = join(folder, FOLDER);
    await mkdir(journals, { recursive: true, mode: 0o700 });
    await flushFolder(folder);
    const file = await openFile(join(journals, encodeURIComponent(name)), bytes);
    const length = (await file.stat()).size;
    let found: Buffer[];
    try {
      found = recordsOf(await file.readFile());
    } catch (error) {
      await file.close();
      throw error;
    }
    let at = 0;
    let tag = newTag();
    let failed = false;
    return {
      found,
      async write(record) {
        const end = at + HEAD_BYTES + record.length;
        if (failed || end > length) return false;
        const framed = Buffer.allocUnsafe(end - at);
        framed.writeUInt32LE(record.length, 0);
        tag.copy(framed, 8);
        record.copy(framed, HEAD_BYTES);
        framed.writeUInt32LE(crc32(framed.subarray(8)), 4);
        try {
          await file.write(framed, 0, framed.length, at);
          await file.datasync();
        } catch (error) {
          failed = true;
          throw error;
        }
        at = end;
        return true;
      },
      beginAnew() {
        at = 0;
        tag = newTag();
      },
      close: () => file.close(),
    };
  };
}
