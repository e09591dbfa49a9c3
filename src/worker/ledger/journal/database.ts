/**
 * The journal's own IndexedDB database: what no volume holds yet, the list of volumes, and what the
 * owner remembers about itself. It is never dropped. Views are in a database of their own
 * (../views/database.ts): a write here waits for nothing but the disk.
 */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from 'idb';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { ExportNote, VolumeStatus } from '../../../shared/protocol/worker.ts';
import { LEDGER } from '../settings.ts';

/** Documents that became durable together. */
export interface JournalRow {
  readonly seq?: number;
  readonly docs: readonly Doc[];
}

/** Documents that were born on this device and that no sealed entry holds yet. */
export interface OutboxRow {
  readonly number?: number;
  readonly docs: readonly Doc[];
  /**
   * They came from the relay, which tells every device of them: another one may have sealed them
   * already.
   */
  readonly fromRelay: boolean;
}

export interface VolumeRecord extends VolumeStatus {
  readonly number: number;
}

/** Ids of what a sealed volume holds, to tell what is missing where it cannot be read. */
interface Manifest {
  readonly name: string;
  readonly ids: readonly string[];
}

/** Which database holds the views that are read. */
interface ViewsName {
  readonly version: string;
  readonly name: string;
}

/**
 * How far the oldest journal row is filed: the first `docs` documents of row `seq` lie in a volume.
 */
interface Filed {
  readonly seq: number;
  readonly docs: number;
}

/** What the owner remembers, by name. */
export interface JournalMeta {
  /** Of the relay's log. */
  cursor: unknown;
  views: ViewsName;
  filed: Filed;
  /** The last row that left the journal: views that are not that far have lost something. */
  filedThrough: number;
  lastExport: ExportNote;
  /** Ids of the `forget` documents whose contents are gone. */
  forgotten: readonly string[];
  /** Volumes that were replaced, whose databases are still to be deleted. */
  discard: readonly string[];
}

interface JournalSchema extends DBSchema {
  journal: { key: number; value: JournalRow };
  outbox: { key: number; value: OutboxRow };
  volumes: { key: string; value: VolumeRecord };
  manifests: { key: string; value: Manifest };
  meta: { key: string; value: unknown };
}

export type JournalDatabase = IDBPDatabase<JournalSchema>;
const STORES = ['journal', 'outbox', 'volumes', 'manifests', 'meta'] as const;
/** Browsers that began with an earlier Roost have not had these: nothing is missing there. */
const LATER: readonly string[] = ['outbox'];
export type JournalTransaction = IDBPTransaction<JournalSchema, (typeof STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so that there is never more than one under way: two at once in one
 * database, and a kill, cost the page all of its databases (see `fireproof-volume.ts`). For the
 * same reason nothing is written with the database's shortcuts.
 */
export function journalTransaction(db: JournalDatabase, durability: 'strict' | 'relaxed'): JournalTransaction {
  return db.transaction([...STORES], 'readwrite', { durability });
}

/** What was remembered under this name; undefined where nothing was. */
export async function readMeta<Name extends keyof JournalMeta>(
  db: JournalDatabase,
  name: Name,
): Promise<JournalMeta[Name] | undefined> {
  // Only this file's callers write it, by `writeMeta` or in a transaction of theirs with the same
  // types.
  return (await db.get('meta', name)) as JournalMeta[Name] | undefined;
}

export async function writeMeta<Name extends keyof JournalMeta>(
  db: JournalDatabase,
  name: Name,
  value: JournalMeta[Name],
  durability: 'strict' | 'relaxed' = 'strict',
): Promise<void> {
  const tx = journalTransaction(db, durability);
  await Promise.all([tx.objectStore('meta').put(value, name), tx.done]);
}

export interface OpenOptions {
  /** Another version of the page wants the database: close it. */
  readonly onBlocking: () => void;
  /** The browser closed the database under us. */
  readonly onTerminated: () => void;
}

export interface OpenedJournal {
  readonly db: JournalDatabase;
  /** Stores that should have been there and were not: made anew, and empty. */
  readonly missing: readonly string[];
}

/** Opens the database, and mends it where a store is missing. */
export async function openJournalDatabase({ onBlocking, onTerminated }: OpenOptions): Promise<OpenedJournal> {
  const missing: string[] = [];
  const open = (version?: number) =>
    openDB<JournalSchema>(LEDGER.journalDatabase, version, {
      upgrade(db, from, _to, tx) {
        const mended = from > 0 && !db.objectStoreNames.contains('journal');
        for (const name of STORES) {
          if (db.objectStoreNames.contains(name)) continue;
          if (from > 0 && !LATER.includes(name)) missing.push(name);
          if (name === 'journal') db.createObjectStore(name, { keyPath: 'seq', autoIncrement: true });
          else if (name === 'outbox') db.createObjectStore(name, { keyPath: 'number', autoIncrement: true });
          else if (name === 'meta') db.createObjectStore(name);
          else db.createObjectStore(name, { keyPath: 'name' });
        }
        // A new journal counts its rows from 1 again: how far the old rows were filed means nothing
        // now.
        if (mended) for (const name of ['filed', 'filedThrough']) void tx.objectStore('meta').delete(name);
      },
      blocking: onBlocking,
      terminated: onTerminated,
    });
  const db = await open();
  if (STORES.every((name) => db.objectStoreNames.contains(name))) return { db, missing };
  const next = db.version + 1;
  db.close();
  return { db: await open(next), missing };
}

export async function putVolume(db: JournalDatabase, record: VolumeRecord): Promise<void> {
  const tx = journalTransaction(db, 'strict');
  await Promise.all([tx.objectStore('volumes').put(record), tx.done]);
}
