/**
 * PGlite on disk. Making a store takes seconds and several hundred megabytes, once; both are spent in a
 * worker thread, so that the memory goes with it, and in a folder beside the final one, so that a kill in
 * the middle leaves nothing that looks like a store.
 */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { Dialect } from 'kysely';
import { createPGliteDialect } from './pglite-dialect.ts';
import { StoreError } from './store-error.ts';

/** Postgres' default of 128 MB is for servers; the relay's working set is a few megabytes. */
const POSTGRES_SETTINGS = ['shared_buffers=16MB', 'max_connections=4'];

/** CommonJS, as a worker made from text is; the package's address is resolved out here, where it is known. */
const MAKER = `
const { workerData } = require('node:worker_threads');
import(workerData.pglite).then(async ({ PGlite }) => {
  const made = await PGlite.create({ dataDir: workerData.folder });
  await made.close();
});
`;

async function makeStore(folder: string): Promise<void> {
  const making = `${folder}.making`;
  await rm(making, { recursive: true, force: true });
  const workerData = { pglite: import.meta.resolve('@electric-sql/pglite'), folder: making };
  const worker = new Worker(MAKER, { eval: true, workerData });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the worker ended with ${code}`))));
  });
  await rename(making, folder);
}

/** The embedded store in `folder`. Throws `StoreError` where it cannot be made or opened. */
export async function openEmbedded(folder: string, onFirst?: () => void): Promise<Dialect> {
  try {
    if (!existsSync(folder)) {
      onFirst?.();
      await makeStore(folder);
    }
    return createPGliteDialect(await PGlite.create({ dataDir: folder, postgresqlconf: POSTGRES_SETTINGS }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`The store in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}
