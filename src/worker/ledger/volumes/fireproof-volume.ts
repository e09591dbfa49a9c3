/**
 * A volume: one Fireproof ledger. It is opened, written and compacted only in ways that were
 * measured to lose nothing with Fireproof 0.24.19. Only this file and key.ts know Fireproof.
 *
 * - `threshold`: a commit over 1 MB would become several CARs, and reopening loads only the first.
 * - `autoCompact`: automatic compaction races with writes. It is off, and our strategy refuses to
 *   run unless `compact()` below called it while the ledger's lock was held.
 * - `chunkSize: 1`: one write at a time keeps the clock linear.
 * - The index store lives in memory. It is never used, but Fireproof would write it all the same.
 * - `close()` stops the CRDT before its queue is drained. So callers write one commit at a time,
 *   and wait.
 */
import { Result, type URI } from '@adviser/cement';
import {
  type Database,
  fireproof,
  getCompactStrategyThrow,
  NotFoundError,
  registerCompactStrategy,
  registerStoreProtocol,
} from '@fireproof/core';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { realTimers, sleep } from '../../../shared/domain/platform/timers.ts';
import { LEDGER, volumeDatabase } from '../settings.ts';
import type { StoredDoc } from './codec.ts';

// Where Fireproof puts a volume's bytes: one IndexedDB database for each volume, with one object
// store.
//
// Fireproof's own gateway puts its write-ahead log and its head in separate stores and writes both
// at the same time. If Chromium (156 and before) is killed while two readwrite transactions run in
// one database, it can no longer open any database of the page, and deletes them all. That happened
// in 3 of 12 kills here. With one store, IndexedDB itself allows only one write at a time.
// ../views/database.ts follows the same rule.
//
// Data that a volume cannot be read without is written with strict durability, so a resolved commit
// survives a power cut.

/** The scheme of our store URLs: `roost://<anything>?name=<volume>`. */
export const PROTOCOL = 'roost';
const VERSION = 'roost-1';

interface VolumeSchema extends DBSchema {
  /** Bytes by `<store>/<key>`. Stores are car, file, meta and wal. */
  blocks: { key: string; value: Uint8Array };
}

const open = new Map<string, IDBPDatabase<VolumeSchema>>();

/**
 * Opens a volume's database. Call it before Fireproof needs it. Returns the function that closes
 * it.
 */
async function openBlocks(name: string): Promise<() => void> {
  const db = await openDB<VolumeSchema>(volumeDatabase(name), 1, {
    upgrade: (fresh) => void fresh.createObjectStore('blocks'),
  });
  open.set(name, db);
  return () => {
    open.delete(name);
    db.close();
  };
}

/** The database, store and key that a store URL names. */
function placeOf(url: URI) {
  const name = url.getParam('name') ?? '';
  const db = open.get(name);
  if (!db) throw new Error(`Volume ${name} is not open.`);
  const store = url.getParam('store') ?? '';
  return { db, store, key: `${store}/${url.getParam('key') ?? ''}` };
}

/** Turns errors into values, as Fireproof expects. */
async function settled<Value>(work: () => Promise<Result<Value>>): Promise<Result<Value>> {
  try {
    return await work();
  } catch (error) {
    return Result.Err(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Bytes at a URL. Rejects where the volume is not open. */
async function read(url: URI, inStore?: string): Promise<Result<Uint8Array>> {
  const { db, store, key } = placeOf(url);
  const bytes = await db.get('blocks', inStore === undefined ? key : `${store}/${inStore}`);
  return bytes
    ? Result.Ok(bytes)
    : Result.Err(new NotFoundError(`There is no ${key} in ${url.getParam('name') ?? ''}.`));
}

registerStoreProtocol({
  protocol: `${PROTOCOL}:`,
  isDefault: false,
  defaultURI: () => {
    throw new Error('Volumes have no default place.');
  },
  gateway: () =>
    Promise.resolve({
      buildUrl: (url: URI, key: string) => Promise.resolve(Result.Ok(url.build().setParam('key', key).URI())),
      start: (url: URI) => Promise.resolve(Result.Ok(url.build().setParam('version', VERSION).URI())),
      close: () => Promise.resolve(Result.Ok(undefined)),
      destroy: () => Promise.resolve(Result.Err<undefined>(new Error('A volume is never destroyed.'))),
      get: (url: URI) => settled(() => read(url)),
      getPlain: (url: URI, key: string) => settled(() => read(url, key)),
      put: (url: URI, bytes: Uint8Array) =>
        settled(async () => {
          const { db, store, key } = placeOf(url);
          const tx = db.transaction('blocks', 'readwrite', { durability: store === 'wal' ? 'relaxed' : 'strict' });
          // A view of a larger buffer would be stored with the whole buffer.
          const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
          await Promise.all([tx.store.put(whole, key), tx.done]);
          return Result.Ok(undefined);
        }),
      delete: (url: URI) =>
        settled(async () => {
          const { db, key } = placeOf(url);
          await db.delete('blocks', key);
          return Result.Ok(undefined);
        }),
    }),
});

export interface Volume {
  /** Is the volume empty? A volume that cannot read its head also opens empty. */
  isEmpty(): boolean;
  /** The number of its CARs. */
  cars(): number;
  /** One commit. Resolves when it would survive a power cut. */
  write(docs: readonly StoredDoc[]): Promise<void>;
  read(): Promise<readonly StoredDoc[]>;
  /**
   * Folds all CARs into one. Rejects where that did not happen, and leaves the volume as before.
   */
  compact(): Promise<void>;
  close(): Promise<void>;
}

export interface VolumeDeps {
  readonly name: string;
  /** Does this worker hold the ledger's lock now? */
  readonly lockHeld: () => boolean;
}

/** Above any commit: Fireproof never splits one. */
const NEVER_SPLIT = 1 << 30;
const IDLE_PAUSE_MS = 5;
/** Fireproof retries failures without end. Waiting for it stops after this. */
const IDLE_MOST_MS = 15_000;

export async function openVolume({ name, lockHeld }: VolumeDeps): Promise<Volume> {
  let permitted = false;
  const strategy = `roost:${name}`;
  const unregister = registerCompactStrategy({
    name: strategy,
    compact(ctx) {
      if (!permitted || !lockHeld())
        return Promise.reject(new Error('Compaction is refused: the ledger’s lock is not held for it.'));
      return getCompactStrategyThrow('fireproof').compact(ctx);
    },
  });
  const closeBlocks = await openBlocks(name);
  const memory = `memory://roost-index-${name}?storekey=${LEDGER.keyName}`;
  const db: Database = fireproof(name, {
    compactStrategy: strategy,
    writeQueue: { chunkSize: 1 },
    keyBag: { url: `indexeddb://${LEDGER.keyBag}` },
    storeUrls: {
      base: `${PROTOCOL}://volumes?storekey=${LEDGER.keyName}`,
      idx: { car: memory, file: memory, meta: memory, wal: memory },
    },
  });
  await db.ready();
  const { blockstore, clock } = db.ledger.crdt;
  const { loader } = blockstore;
  if (!loader) throw new Error(`Fireproof gave volume ${name} no loader.`);
  Object.assign(loader.ebOpts, { threshold: NEVER_SPLIT });
  Object.assign(blockstore.ebOpts, { threshold: NEVER_SPLIT, autoCompact: 0 });

  /** Resolves when the commit queue and Fireproof's write-ahead log are idle. */
  async function idle() {
    for (let waited = 0; waited < IDLE_MOST_MS; waited += IDLE_PAUSE_MS) {
      await loader?.commitQueue.waitIdle();
      const state = await loader?.attachedStores.local().active.wal.load();
      if (!state || (state.operations.length === 0 && (state.fileOperations?.length ?? 0) === 0)) return;
      await sleep(realTimers.after, IDLE_PAUSE_MS);
    }
    throw new Error(`Fireproof does not come to rest in volume ${name}.`);
  }

  return {
    isEmpty: () => clock.head.length === 0,
    cars: () => loader.carLog.length,
    async write(docs) {
      await db.bulk(docs.map((doc) => ({ ...doc })));
    },
    async read() {
      if (clock.head.length === 0) return [];
      const { rows } = await db.allDocs<Record<string, unknown>>();
      return rows.map((row) => ({ ...row.value, _id: row.key }));
    },
    async compact() {
      await idle();
      if (loader.carLog.length < 2) return;
      permitted = true;
      try {
        // Fireproof logs a failed compaction and resolves all the same. The number of CARs shows
        // it.
        await db.compact();
      } finally {
        permitted = false;
      }
      if (loader.carLog.length !== 1)
        throw new Error(`Compaction left ${loader.carLog.length} CARs in volume ${name}.`);
      await idle();
    },
    async close() {
      await idle();
      await db.close();
      closeBlocks();
      unregister();
    },
  };
}
