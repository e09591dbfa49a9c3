/**
 * Where Fireproof puts a volume's bytes: one IndexedDB database per volume with one object store.
 *
 * Fireproof's own gateway keeps its write-ahead log and its head in stores of their own and writes
 * both at the same time. Chromium (156 and before) that is killed while two readwrite transactions
 * are under way in one database cannot open any database of the page again and deletes them all: 3
 * of 12 kills, seen here. With one store IndexedDB itself lets only one write at a time. The same
 * rule holds in ../views/database.ts.
 *
 * What a volume cannot be read without is written with strict durability, so a commit that has
 * resolved survives a power cut.
 */
import { Result, type URI } from '@adviser/cement';
import { NotFoundError, registerStoreProtocol } from '@fireproof/core';
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { volumeDatabase } from '../settings.ts';

/** The scheme of our store URLs: `roost://<anything>?name=<volume>`. */
export const PROTOCOL = 'roost';
const VERSION = 'roost-1';

interface VolumeSchema extends DBSchema {
  /** Bytes by `<store>/<key>`; stores are car, file, meta and wal. */
  blocks: { key: string; value: Uint8Array };
}

const open = new Map<string, IDBPDatabase<VolumeSchema>>();

/**
 * Opens a volume's database, which must be before Fireproof asks for it. Returns the way to close
 * it.
 */
export async function openBlocks(name: string): Promise<() => void> {
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

/** Fireproof takes failures as values. */
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
          // A view of a larger buffer would be stored with all of it.
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
