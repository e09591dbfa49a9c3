/**
 * The device's own IndexedDB database of synchronisation: the household's keys, every sealed entry
 * it has, and what it knows of the other devices. Entries are kept sealed, so that any device can
 * hand on what any other one wrote.
 */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from 'idb';
import type { Ranges } from '../../../shared/protocol/sync/page.ts';
import { SYNC_OWNER } from '../settings.ts';
import type {
  Counters,
  DeviceRecord,
  FirstSeal,
  LetIn,
  OwnWriter,
  Tip,
  Membership,
  Returned,
  Returning,
} from './records.ts';

export interface EntryRow {
  readonly writer: string;
  readonly counter: number;
  readonly sealed: Uint8Array;
  /**
   * 1: it could not be opened yet (a newer Roost's, or a key that has not come). Absent where it
   * was.
   */
  readonly shut?: 1;
  /** It can be opened, and waits: what it carries is dated so late, in ms since the epoch. */
  readonly ahead?: number;
}

interface HaveRow {
  readonly writer: string;
  readonly ranges: Ranges;
}

export interface SyncMeta {
  membership: Membership;
  counters: Counters;
  /** Writers of this device that it writes under no more. */
  retired: readonly OwnWriter[];
  firstSeal: FirstSeal;
  devices: readonly DeviceRecord[];
  tips: readonly Tip[];
  /** What this device is to be called; null once the record that says so is sealed. */
  name: string | null;
  /** The word of the device that let this one in, until this one’s record carries it. */
  letIn: LetIn | null;
  /** Set while what was lost is brought back; null: nothing is. */
  returning: Returning | null;
  /** What the person is still to be told of it. */
  returned: Returned | null;
  /** Files may still hold what entries do not any more: they are written anew. */
  filesStale: boolean;
  /** What other devices dated up to here is taken, in ms since the epoch: the person said so. */
  aheadTaken: number;
}

interface SyncSchema extends DBSchema {
  entries: { key: [string, number]; value: EntryRow; indexes: { shut: number } };
  have: { key: string; value: HaveRow };
  meta: { key: string; value: unknown };
}

export type SyncDatabase = IDBPDatabase<SyncSchema>;
const STORES = ['entries', 'have', 'meta'] as const;
export type SyncTransaction = IDBPTransaction<SyncSchema, (typeof STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so that there is never more than one under way, as in the ledger's
 * databases.
 */
export function syncTransaction(db: SyncDatabase, durability: 'strict' | 'relaxed'): SyncTransaction {
  return db.transaction([...STORES], 'readwrite', { durability });
}

/**
 * Waits for all that was asked within a transaction. Rejects with the transaction's own error,
 * which names the cause.
 */
export async function settled<Result>(tx: SyncTransaction, work: Promise<Result>): Promise<Result> {
  const [result, done] = await Promise.allSettled([work, tx.done]);
  if (done.status === 'rejected') throw done.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** What is kept under this name; undefined where nothing was. */
export async function readMeta<Name extends keyof SyncMeta>(
  db: SyncDatabase,
  name: Name,
): Promise<SyncMeta[Name] | undefined> {
  // Only `writeMeta` and transactions of this folder write it, with the same types.
  return (await db.get('meta', name)) as SyncMeta[Name] | undefined;
}

/** Writes: all of it or nothing, durable when it resolves. */
export type WriteMeta = (values: Partial<SyncMeta>, durability?: 'strict' | 'relaxed') => Promise<void>;

/** All of them or none. */
export async function writeMeta(
  db: SyncDatabase,
  values: Partial<SyncMeta>,
  durability: 'strict' | 'relaxed' = 'strict',
): Promise<void> {
  const tx = syncTransaction(db, durability);
  await settled(
    tx,
    Promise.all(Object.entries(values).map(([name, value]) => tx.objectStore('meta').put(value, name))),
  );
}

export interface OpenSyncOptions {
  /** Another version of the page wants the database: close it. */
  readonly onBlocking: () => void;
  readonly onTerminated: () => void;
}

export function openSyncDatabase({ onBlocking, onTerminated }: OpenSyncOptions): Promise<SyncDatabase> {
  return openDB<SyncSchema>(SYNC_OWNER.database, 1, {
    upgrade(db) {
      db.createObjectStore('entries', { keyPath: ['writer', 'counter'] }).createIndex('shut', 'shut');
      db.createObjectStore('have', { keyPath: 'writer' });
      db.createObjectStore('meta');
    },
    blocking: onBlocking,
    terminated: onTerminated,
  });
}

/** Empties it: this device leaves one household for another. */
export async function emptySyncDatabase(db: SyncDatabase): Promise<void> {
  const tx = syncTransaction(db, 'strict');
  await settled(tx, Promise.all(STORES.map((name) => tx.objectStore(name).clear())));
}
