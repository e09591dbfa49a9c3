/**
 * The journal's IndexedDB database. It holds the documents that no volume has yet, the list of
 * volumes, and the worker's own notes. It is never dropped. The views have a database of their own
 * (../views/database.ts), so a write to the journal waits only for the disk.
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

/** Documents of this device that no sealed entry holds yet. */
export interface OutboxRow {
  readonly number?: number;
  readonly docs: readonly Doc[];
  /** The relay sent them to every device, so another one may have sealed them already. */
  readonly fromRelay: boolean;
}

export interface VolumeRecord extends VolumeStatus {
  readonly number: number;
}

/**
 * Ids of the documents in a sealed volume. They tell what is missing where the volume cannot be
 * read.
 */
interface Manifest {
  readonly name: string;
  readonly ids: readonly string[];
}

/** The database of the views that are read. */
interface ViewsName {
  readonly version: string;
  readonly name: string;
}

/** How much of the oldest journal row is in volumes: the first `docs` documents of row `seq`. */
interface Filed {
  readonly seq: number;
  readonly docs: number;
}

/** The worker's notes, by name. */
export interface JournalMeta {
  /** The cursor in the relay's log. */
  cursor: unknown;
  views: ViewsName;
  filed: Filed;
  /** The last row that left the journal. Views that are behind it have lost something. */
  filedThrough: number;
  lastExport: ExportNote;
  /** Ids of the `forget` documents whose contents are deleted. */
  forgotten: readonly string[];
  /** Volumes that were replaced and whose databases are still to be deleted. */
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
/** Stores that earlier versions did not have. A journal without them is not damaged. */
const LATER: readonly string[] = ['outbox'];
export type JournalTransaction = IDBPTransaction<JournalSchema, (typeof STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so only one write runs at a time. Two readwrite transactions at
 * once in one database, and a kill, cost the page all of its databases (see `fireproof-volume.ts`).
 * For the same reason nothing is written with the database's shortcuts.
 */
export function journalTransaction(db: JournalDatabase, durability: 'strict' | 'relaxed'): JournalTransaction {
  return db.transaction([...STORES], 'readwrite', { durability });
}

/** The value under this name. Undefined where there is none. */
export async function readMeta<Name extends keyof JournalMeta>(
  db: JournalDatabase,
  name: Name,
): Promise<JournalMeta[Name] | undefined> {
  // The type is safe: only callers of this file write it, by `writeMeta` or in a transaction with
  // the same types.
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
  /** Another version of the page needs the database: close it. */
  readonly onBlocking: () => void;
  /** The browser closed the database. */
  readonly onTerminated: () => void;
}

export interface OpenedJournal {
  readonly db: JournalDatabase;
  /** Stores that were missing. They were created again, and are empty. */
  readonly missing: readonly string[];
}

/** Opens the database and creates missing stores. */
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
        // A new journal counts its rows from 1 again, so notes about old rows are void.
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
