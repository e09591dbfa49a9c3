/**
 * A directory of the origin's private file system (OPFS), where this worker can write it. A shared
 * worker has only `createWritable`, which WebKit lacks before 26. There are no files there then.
 */
import { z } from 'zod';
import { sentence } from '../../../shared/domain/names.ts';
import { type After, within } from '../../../shared/domain/platform/timers.ts';
import { createDeferred } from '../../../shared/domain/platform/deferred.ts';
import { MIRROR } from './settings.ts';
import { readMark } from './mark.ts';

interface FileEntry {
  readonly name: string;
  readonly bytes: number;
}

/** Every write happens completely or not at all: the browser writes beside the file, and swaps. */
export interface Files {
  list(): Promise<readonly FileEntry[]>;
  /** Null: there is no such file. */
  read(name: string): Promise<Uint8Array | null>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Appends to the file. */
  append(name: string, bytes: Uint8Array): Promise<void>;
  /** Harmless where there is no such file. */
  remove(name: string): Promise<void>;
}

const isNotFound = (error: unknown) => error instanceof DOMException && error.name === 'NotFoundError';
/** A copy in an unshared buffer, as the browser's types require. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

function filesIn(directory: FileSystemDirectoryHandle): Files {
  async function put(name: string, bytes: Uint8Array, behind: boolean) {
    const file = await directory.getFileHandle(name, { create: true });
    const writable = await file.createWritable({ keepExistingData: behind });
    try {
      if (behind) await writable.seek((await file.getFile()).size);
      await writable.write(owned(bytes));
    } catch (error) {
      await writable.abort().catch(() => undefined);
      throw error;
    }
    await writable.close();
  }
  return {
    async list() {
      const found: FileEntry[] = [];
      for await (const handle of directory.values()) {
        if (handle.kind !== 'file') continue;
        try {
          found.push({ name: handle.name, bytes: (await handle.getFile()).size });
        } catch {
          // The name exists but the contents do not. Treat it as empty.
          found.push({ name: handle.name, bytes: 0 });
        }
      }
      return found;
    },
    async read(name) {
      try {
        const file = await directory.getFileHandle(name);
        return new Uint8Array(await (await file.getFile()).arrayBuffer());
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    write: (name, bytes) => put(name, bytes, false),
    append: (name, bytes) => put(name, bytes, true),
    async remove(name) {
      try {
        await directory.removeEntry(name);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
}

/**
 * Adds a time-out to reads, because the page waits for them to open. A write has none. If an
 * abandoned write finished after a later one, it would undo it.
 */
function answering(files: Files, after: After): Files {
  async function inTime<Value>(asked: Promise<Value>): Promise<Value> {
    const answer = await within(
      after,
      MIRROR.answerWithin,
      asked.then((value) => ({ value })),
    );
    if (answer === null) throw new Error(sentence`The browser’s file system does not answer.`);
    return answer.value;
  }
  return { ...files, list: () => inTime(files.list()), read: (name) => inTime(files.read(name)) };
}

async function open(storage: StorageManager): Promise<Files | null> {
  const root = await storage.getDirectory();
  const opened = async () => {
    const directory = await root.getDirectoryHandle(MIRROR.directory, { create: true });
    const probe = await directory.getFileHandle('probe', { create: true });
    if (typeof probe.createWritable !== 'function') return null;
    const files = filesIn(directory);
    await files.write('probe', new Uint8Array([1]));
    return files;
  };
  try {
    return await opened();
  } catch {
    // The directory's bookkeeping is damaged. Delete it: it is filled again.
    await root.removeEntry(MIRROR.directory, { recursive: true }).catch(() => undefined);
    return await opened();
  }
}

/** Null: this browser has no files that this worker can write. */
export async function openFiles(storage: StorageManager | undefined, after: After): Promise<Files | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  if (!storage || typeof storage.getDirectory !== 'function') return null;
  try {
    const files = await within(after, MIRROR.openWithin, open(storage));
    return files && answering(files, after);
  } catch {
    // Refused (in a private window, for example) or damaged beyond repair. Only the relay has a
    // second copy then.
    return null;
  }
}

// Counts failed reads of the browser's database. A restart often helps. Where it does not, and
// there is a mark to return by, the next start empties the database and fills it from files and
// relay.

const schema = z.object({ times: z.array(z.number()), empty: z.boolean() });
type Noted = z.infer<typeof schema>;
const NONE: Noted = { times: [], empty: false };

interface Failures {
  /**
   * Is the database to be emptied before it is read? Call it once, at the start. The call clears
   * the note.
   */
  isToBeEmptied(): Promise<boolean>;
  /** The database failed. Resolves with whether the worker should restart. */
  note(): Promise<boolean>;
}

/**
 * The mark in localStorage, for when the database does not open and nothing else could ask for it.
 */
export function createOffered(after: After) {
  const heard = createDeferred<string | null>();
  return {
    hear: (text: string | null) => heard.resolve(text),
    /** Null: no mark, or no tab sent one in time. */
    text: (): Promise<string | null> => within(after, MIRROR.offeredWithin, heard.promise),
  };
}

interface FailuresDeps {
  /** Null: there are no files. Failures cannot be counted then, so the worker does not restart. */
  readonly files: Files | null;
  /** The mark in localStorage. */
  readonly offered: () => Promise<string | null>;
  /** ms since the epoch */
  readonly now: () => number;
}

export function createFailures({ files, offered, now }: FailuresDeps): Failures {
  async function read(): Promise<Noted> {
    try {
      const bytes = await files?.read(MIRROR.failuresFile);
      return bytes ? schema.parse(JSON.parse(new TextDecoder().decode(bytes))) : NONE;
    } catch {
      // The file is not ours or damaged. It must not keep anything from opening.
      return NONE;
    }
  }
  const write = async (noted: Noted) =>
    files?.write(MIRROR.failuresFile, new TextEncoder().encode(JSON.stringify(noted)));
  async function canReturn(): Promise<boolean> {
    const bytes = await files?.read(MIRROR.markFile).catch(() => null);
    return (bytes && readMark(new TextDecoder().decode(bytes)) !== null) || readMark(await offered()) !== null;
  }
  return {
    async isToBeEmptied() {
      const noted = await read();
      if (noted.empty) await write({ ...noted, empty: false });
      return noted.empty;
    },
    async note() {
      if (!files) return false;
      const times = [...(await read()).times.filter((time) => Math.abs(now() - time) < MIRROR.failuresWithin), now()];
      if (times.length > MIRROR.failuresMost || !(await canReturn())) return false;
      await write({ times, empty: times.length >= MIRROR.failuresToEmpty });
      return true;
    },
  };
}
