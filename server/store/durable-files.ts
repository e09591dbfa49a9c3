/**
 * The files of the embedded store, made to outlive a power cut. Emscripten's NODEFS writes to real
 * files but has no `fsync`: Postgres asks for one at every commit and is answered by nothing. Here
 * it gets what it asks for:
 *
 * - A file of data, a folder, the control file: `fsync`, at once.
 * - The write-ahead log: what is asked for is owed, and paid by `flushed()` off the main thread,
 *   once for all who wait for it together; nobody is answered before. Postgres goes on meanwhile as
 *   if it had been flushed. That is safe because everything that counts on it is held to the order:
 *   before any other file is written, renamed, cut or removed, what is owed is paid.
 *
 * Postgres' rules for files are in its manual, "Reliability and the Write-Ahead Log".
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface NodeEntry {
  readonly mode: number;
}
/** The part of Emscripten's NODEFS that is changed here; `src/lib/libnodefs.js` of Emscripten. */
interface NodeStream {
  nfd: number;
  readonly node: NodeEntry;
  readonly shared: { refcount: number };
}
type Operation = (...given: never[]) => unknown;
interface NodeFiles {
  readonly stream_ops: Record<string, Operation>;
  readonly node_ops: Record<string, Operation>;
  realPath(node: unknown): string;
  tryFSOperation<T>(operation: () => T): T;
}

/** What changes a name, a folder or a length, and so what a restart would find. */
const CHANGING = ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink'] as const;
const KIND_MASK = 0o170000;
const FILE = 0o100000;
/** What a mode grants to anybody but the owner. */
const OTHERS = 0o077;
const LOG_FILE = /[\\/]pg_wal[\\/][^\\/]+$/;

export interface DurableFiles {
  readonly filesystem: NodeFS;
  /**
   * Resolves when all that Postgres wanted flushed so far is on disk. Rejects where that failed:
   * the engine must be left then.
   */
  flushed(): Promise<void>;
  /** Bytes that were put into the write-ahead log since this was asked to begin anew. */
  logBytes(): number;
  forgetLogBytes(): void;
  /** Closes what an engine that is left had open. */
  abandon(): void;
}

/** Emscripten sets the mode that was asked for, whatever the umask. */
const closedToOthers =
  (setattr: Operation | undefined): Operation =>
  (first: never, { mode, ...rest }: { readonly mode?: number }) =>
    setattr?.(first, { ...rest, ...(mode === undefined ? {} : { mode: mode & ~OTHERS }) } as never);

export function createDurableFiles(folder: string): DurableFiles {
  /**
   * Open files of the write-ahead log with something owed, and those that are being flushed now.
   */
  const owed = new Set<number>();
  const flushing = new Set<number>();
  /** Closed by Postgres while they were being flushed. */
  const closing = new Set<number>();
  const open = new Set<number>();
  let logBytes = 0;
  let asked = 0;
  let paid = 0;
  let running: Promise<void> | null = null;
  /**
   * After a flush that failed nobody knows what is on disk, and another that succeeds says nothing
   * about it.
   */
  let failure: Error | null = null;

  const flushOne = (fd: number) =>
    new Promise<void>((done, failed) => fdatasync(fd, (error) => (error ? failed(error) : done())));

  async function flushOwed(): Promise<void> {
    const upTo = asked;
    for (const fd of owed) flushing.add(fd);
    owed.clear();
    try {
      await Promise.all([...flushing].map(flushOne));
      paid = Math.max(paid, upTo);
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error));
    } finally {
      flushing.clear();
      for (const fd of closing) closeSync(fd);
      closing.clear();
      running = null;
    }
  }

  function payNow(): void {
    if (failure) throw failure;
    if (paid === asked) return;
    try {
      for (const fd of new Set([...owed, ...flushing])) fdatasyncSync(fd);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    }
    owed.clear();
    paid = asked;
  }

  function makeDurable(files: NodeFiles): void {
    const { stream_ops: streams, node_ops: nodes } = files;
    const logFiles = new WeakMap<object, boolean>();
    const isLog = (stream: NodeStream) => {
      let known = logFiles.get(stream.shared);
      if (known === undefined) logFiles.set(stream.shared, (known = LOG_FILE.test(files.realPath(stream.node))));
      return known;
    };
    /**
     * Files without a change since they were flushed here: after a crash Postgres flushes every
     * file, twice.
     */
    const clean = new WeakSet<NodeEntry>();
    const paying =
      (operation: Operation | undefined): Operation =>
      (...given: never[]) => {
        files.tryFSOperation(payNow);
        return operation?.(...given);
      };
    for (const name of CHANGING) nodes[name] = paying(nodes[name]);
    streams['setattr'] = paying(streams['setattr']);
    const forget =
      (operation: Operation | undefined, entryOf: (first: never) => NodeEntry): Operation =>
      (first: never, ...given: never[]) => {
        clean.delete(entryOf(first));
        return operation?.(first, ...given);
      };
    nodes['setattr'] = forget(closedToOthers(nodes['setattr']), (node: NodeEntry) => node);
    streams['setattr'] = forget(closedToOthers(streams['setattr']), (stream: NodeStream) => stream.node);

    const { open: openFile, write } = streams;
    streams['open'] = (stream: NodeStream) => {
      openFile?.(stream as never);
      open.add(stream.nfd);
    };
    streams['write'] = (stream: NodeStream, ...given: never[]) => {
      if (!isLog(stream)) files.tryFSOperation(payNow);
      else logBytes += Number(given[2]);
      clean.delete(stream.node);
      return write?.(stream as never, ...given);
    };
    streams['fsync'] = (stream: NodeStream) => {
      if (isLog(stream)) {
        owed.add(stream.nfd);
        asked += 1;
      } else if (!clean.has(stream.node))
        files.tryFSOperation(() => {
          payNow();
          fsyncSync(stream.nfd);
          if ((stream.node.mode & KIND_MASK) === FILE) clean.add(stream.node);
        });
      return 0;
    };
    streams['close'] = (stream: NodeStream) => {
      stream.shared.refcount -= 1;
      if (stream.shared.refcount > 0) return;
      open.delete(stream.nfd);
      files.tryFSOperation(() => {
        if (owed.has(stream.nfd)) payNow();
        if (flushing.has(stream.nfd)) closing.add(stream.nfd);
        else closeSync(stream.nfd);
      });
    };
  }

  class DurableFs extends NodeFS {
    override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
      const prepare = (module: object) => {
        // Emscripten's types do not name its filesystems.
        makeDurable((module as { NODEFS: NodeFiles }).NODEFS);
      };
      return super.init(pg, { ...options, preRun: [...(options.preRun ?? []), prepare] });
    }
  }

  return {
    filesystem: new DurableFs(resolve(folder)),
    async flushed() {
      const upTo = asked;
      while (paid < upTo) {
        if (failure) throw failure;
        await (running ??= flushOwed());
      }
    },
    logBytes: () => logBytes,
    forgetLogBytes: () => void (logBytes = 0),
    abandon() {
      for (const fd of open) if (!flushing.has(fd)) closeSync(fd);
      for (const fd of open) if (flushing.has(fd)) closing.add(fd);
      open.clear();
      owed.clear();
    },
  };
}
