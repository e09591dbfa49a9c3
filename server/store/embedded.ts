/**
 * PGlite on disk. Making a store takes seconds and several hundred megabytes, once; both are spent in a
 * worker thread, so that the memory goes with it, and in a folder beside the final one, so that a kill in
 * the middle leaves nothing that looks like a store.
 */
import { existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openEngine, type Engine } from './engine.ts';
import { createEmbedded, type Embedded, type EngineSource } from './pglite-dialect.ts';
import { StoreError } from './store-error.ts';

/** ms after an engine could not be opened before it is tried again; each try costs a quarter of a second of the relay. */
const REOPEN_PAUSE_MS = 500;

/** Segments of the log of 1 MB, not 16. */
const INITDB = ['--wal-segsize=1'];
/** Two databases that others would be made from: two thirds of an empty store's files. */
const TRIM = [
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
  'checkpoint',
];

/** CommonJS, as a worker made from text is; the package's address is resolved out here, where it is known. */
const MAKER = `
const { workerData } = require('node:worker_threads');
import(workerData.pglite).then(async ({ PGlite }) => {
  const made = await PGlite.create({ dataDir: workerData.folder, initDbStartParams: workerData.initdb });
  for (const statement of workerData.trim) await made.exec(statement);
  await made.close();
});
`;

/** A file, or the names in a folder. */
async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  await Promise.all(entries.map((entry) => (entry.isDirectory() ? flushTree : flushFile)(join(folder, entry.name))));
  await flushFile(folder);
}

async function makeStore(folder: string): Promise<void> {
  const making = `${folder}.making`;
  await rm(making, { recursive: true, force: true });
  const workerData = {
    pglite: import.meta.resolve('@electric-sql/pglite'),
    folder: making,
    initdb: INITDB,
    trim: TRIM,
  };
  const worker = new Worker(MAKER, { eval: true, workerData });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the worker ended with ${code}`))));
  });
  await flushTree(making);
  await rename(making, folder);
  await flushFile(dirname(folder));
}

/** An engine that died is left, and another opened on its folder, where Postgres recovers what was committed. */
function createEngineSource(folder: string, first: Engine, now: () => number): EngineSource {
  let engine = first;
  let closed = false;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  return {
    async get() {
      if (closed || !engine.dead()) return engine;
      if (failed && now() - failed.at < REOPEN_PAUSE_MS) throw failed.error;
      try {
        engine = await openEngine(folder);
        failed = null;
      } catch (error) {
        failed = { at: now(), error };
        throw error;
      }
      return engine;
    },
    async close() {
      closed = true;
      await engine.close();
    },
  };
}

/** The embedded store in `folder`. Throws `StoreError` where it cannot be made or opened. */
export async function openEmbedded(folder: string, onFirst?: () => void): Promise<Embedded> {
  try {
    if (!existsSync(folder)) {
      onFirst?.();
      await makeStore(folder);
    }
    return createEmbedded(createEngineSource(folder, await openEngine(folder), () => performance.now()));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`The store in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}
