/**
 * A directory of the origin's private file system (OPFS), as far as this worker can write it. A
 * shared worker has only `createWritable`, which WebKit lacks before 26: there are no files there
 * then.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import { within, type After } from '../../../shared/domain/platform/timers.ts';
import { MIRROR } from './settings.ts';

interface FileEntry {
  readonly name: string;
  readonly bytes: number;
}

/** Every write is whole or not at all: the browser writes beside the file, and swaps. */
export interface Files {
  list(): Promise<readonly FileEntry[]>;
  /** null: there is none. */
  read(name: string): Promise<Uint8Array | null>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes behind what the file holds. */
  append(name: string, bytes: Uint8Array): Promise<void>;
  /** Harmless where there is none. */
  remove(name: string): Promise<void>;
}

const isNotFound = (error: unknown) => error instanceof DOMException && error.name === 'NotFoundError';
/** A buffer of its own, and no shared one, as the browser's types want it. */
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
          // Its name is there and what it held is not: as good as no file.
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
 * The same, where what is read, and the page waits for to open, rejects when it is not answered in
 * time. A write goes on, however long it takes: one that came to its end after another would undo
 * that.
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
    // Its own bookkeeping is damaged: begun anew it holds nothing, and is filled again.
    await root.removeEntry(MIRROR.directory, { recursive: true }).catch(() => undefined);
    return await opened();
  }
}

/** null: this browser has none that this worker can write. */
export async function openFiles(storage: StorageManager | undefined, after: After): Promise<Files | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  if (!storage || typeof storage.getDirectory !== 'function') return null;
  try {
    const files = await within(after, MIRROR.openWithin, open(storage));
    return files && answering(files, after);
  } catch {
    // Refused (a private window, say), or broken beyond repair: the relay keeps what there is then.
    return null;
  }
}
