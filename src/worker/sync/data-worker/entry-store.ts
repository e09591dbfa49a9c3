/**
 * A device's entries, for its replica. It opens received entries, gives their documents to the
 * ledger, and stores the sealed bytes unchanged.
 *
 * An entry counts as here only when its documents are durable in the ledger, or when it waits here.
 * It may wait for a key, for a newer Roost, or, if it is dated far ahead, for its time or the
 * person.
 */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import type { Entry, EntryKey, EntryStore, Have, PutOutcome, Ranges } from '../../../shared/protocol/sync/page.ts';
import { addRange, subtract } from '../../../shared/domain/ranges.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { SYNC_WORKER } from '../settings.ts';
import type { Opened } from '../contract.ts';
import {
  type Counters,
  type DeviceRecord,
  type FirstSeal,
  latestOf,
  type LetIn,
  type Membership,
  type OwnWriter,
  readPayload,
  type ReadPayload,
  type Returned,
  type Returning,
  type Tip,
} from './records.ts';

// The IndexedDB database of synchronisation: the household's keys, every sealed entry of this
// device, and its knowledge of the other devices. Entries stay sealed, so any device can pass on
// what another one wrote.

interface EntryRow {
  readonly writer: string;
  readonly counter: number;
  readonly sealed: Uint8Array;
  /**
   * 1: the entry waits, because of a newer Roost, a missing key or a future date. Absent where it
   * was taken.
   */
  readonly shut?: 1;
  /** The entry can be opened but waits. Its latest date, in ms since the epoch. */
  readonly ahead?: number;
}

interface HaveRow {
  readonly writer: string;
  readonly ranges: Ranges;
}

export interface SyncMeta {
  membership: Membership;
  counters: Counters;
  /** Former writers of this device. */
  retired: readonly OwnWriter[];
  firstSeal: FirstSeal;
  devices: readonly DeviceRecord[];
  tips: readonly Tip[];
  /** The name for this device. Null once the record with this name is sealed. */
  name: string | null;
  /** The statement of the device that admitted this one, until this one’s record contains it. */
  letIn: LetIn | null;
  /** Set while lost data is being restored. Null: nothing is. */
  returning: Returning | null;
  /** The result of restoring, until the person has been notified. */
  returned: Returned | null;
  /** Files may still hold contents that entries no longer have. They must be written anew. */
  filesStale: boolean;
  /**
   * Entries of other devices dated up to here are accepted, in ms since the epoch, because the
   * person said so.
   */
  aheadTaken: number;
  /** Ids of requests to forget whose contents are in no entry any more. */
  forgotten: readonly string[];
}

interface SyncSchema extends DBSchema {
  entries: { key: [string, number]; value: EntryRow; indexes: { shut: number } };
  have: { key: string; value: HaveRow };
  meta: { key: string; value: unknown };
}

export type SyncDatabase = IDBPDatabase<SyncSchema>;
const STORES = ['entries', 'have', 'meta'] as const;
type SyncTransaction = IDBPTransaction<SyncSchema, (typeof STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so only one write runs at a time, as in the ledger's databases.
 */
export function syncTransaction(db: SyncDatabase, durability: 'strict' | 'relaxed'): SyncTransaction {
  return db.transaction([...STORES], 'readwrite', { durability });
}

/**
 * Waits for all requests of a transaction. Rejects with the transaction's error, which names the
 * cause.
 */
export async function settled<Result>(tx: SyncTransaction, work: Promise<Result>): Promise<Result> {
  const [result, done] = await Promise.allSettled([work, tx.done]);
  if (done.status === 'rejected') throw done.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** The value under this name. Undefined where there is none. */
export async function readMeta<Name extends keyof SyncMeta>(
  db: SyncDatabase,
  name: Name,
): Promise<SyncMeta[Name] | undefined> {
  // The type is safe: only `writeMeta` and transactions of this folder write it, with the same
  // types.
  return (await db.get('meta', name)) as SyncMeta[Name] | undefined;
}

/** Writes all values or none. They are durable when it resolves. */
export type WriteMeta = (values: Partial<SyncMeta>, durability?: 'strict' | 'relaxed') => Promise<void>;

/** Writes all values or none. */
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

interface OpenSyncOptions {
  /** Another version of the page needs the database: close it. */
  readonly onBlocking: () => void;
  readonly onTerminated: () => void;
}

export function openSyncDatabase({ onBlocking, onTerminated }: OpenSyncOptions): Promise<SyncDatabase> {
  return openDB<SyncSchema>(SYNC_WORKER.database, 1, {
    upgrade(db) {
      db.createObjectStore('entries', { keyPath: ['writer', 'counter'] }).createIndex('shut', 'shut');
      db.createObjectStore('have', { keyPath: 'writer' });
      db.createObjectStore('meta');
    },
    blocking: onBlocking,
    terminated: onTerminated,
  });
}

/** Empties the database: this device leaves one household for another. */
export async function emptySyncDatabase(db: SyncDatabase): Promise<void> {
  const tx = syncTransaction(db, 'strict');
  await settled(tx, Promise.all(STORES.map((name) => tx.objectStore(name).clear())));
}

// The sealed entries in the device's database, and the ranges of each writer.

export interface EntryRows {
  have(): Promise<Have>;
  /** In the order of these places. */
  at(keys: readonly EntryKey[]): Promise<readonly (EntryRow | undefined)[]>;
  /** Reads entries in order from one end, up to this many bytes, and at least one. */
  readonly read: EntryStore['read'];
  /** Entries of one writer, from one counter to another, in order. */
  from(writer: string, from: number, to: number): Promise<readonly EntryRow[]>;
  /** Entries that wait for a key, a newer Roost, their time or the person. */
  shut(): Promise<readonly EntryRow[]>;
  /** Visits all entries, in batches. */
  each(visit: (entries: readonly EntryRow[]) => Promise<void>): Promise<void>;
  /** Visits all entries as stretches of counters of one writer. */
  eachStretch(visit: (writer: string, from: number, to: number) => Promise<void>): Promise<void>;
  /**
   * Adds entries that were just sealed here, inside the caller's transaction. Fails where a place
   * is taken.
   */
  add(tx: SyncTransaction, entries: readonly Entry[]): Promise<void>;
  /** `fresh`: those of them that were not here. */
  write(rows: readonly EntryRow[], fresh: readonly EntryKey[]): Promise<void>;
  takeOut(writer: string, counters: readonly number[]): Promise<void>;
}

const rowKeyOf = ({ writer, counter }: EntryKey): [string, number] => [writer, counter];
const stretch = (writer: string, from: number, to: number) => IDBKeyRange.bound([writer, from], [writer, to]);

export function createEntryRows(db: SyncDatabase): EntryRows {
  async function widen(tx: SyncTransaction, keys: readonly EntryKey[]) {
    const store = tx.objectStore('have');
    const byWriter = new Map<string, number[]>();
    for (const { writer, counter } of keys) byWriter.set(writer, [...(byWriter.get(writer) ?? []), counter]);
    for (const [writer, counters] of byWriter) {
      let ranges: Ranges = (await store.get(writer))?.ranges ?? [];
      for (const counter of counters) ranges = addRange(ranges, counter, counter);
      await store.put({ writer, ranges });
    }
  }

  async function write(rows: readonly EntryRow[], fresh: readonly EntryKey[]) {
    if (rows.length === 0) return;
    const tx = syncTransaction(db, 'relaxed');
    await settled(tx, Promise.all([...rows.map((row) => tx.objectStore('entries').put(row)), widen(tx, fresh)]));
  }

  return {
    have: async () => new Map((await db.getAll('have')).map(({ writer, ranges }) => [writer, ranges])),
    at(keys) {
      const tx = db.transaction('entries');
      return Promise.all(keys.map((key) => tx.store.get(rowKeyOf(key))));
    },
    async read(writer, from, to, { newestFirst, maxBytes }) {
      const found: Entry[] = [];
      let bytes = 0;
      let [low, high] = [from, to];
      while (low <= high) {
        const [first, last] = newestFirst
          ? [Math.max(low, high - SYNC_WORKER.readStride + 1), high]
          : [low, Math.min(high, low + SYNC_WORKER.readStride - 1)];
        const rows = await db.getAll('entries', stretch(writer, first, last));
        for (const { counter, sealed } of newestFirst ? rows.reverse() : rows) {
          if (found.length > 0 && bytes + sealed.length > maxBytes) return found;
          found.push({ writer, counter, sealed });
          bytes += sealed.length;
        }
        if (newestFirst) high = first - 1;
        else low = last + 1;
      }
      return found;
    },
    from: (writer, from, to) => db.getAll('entries', stretch(writer, from, to)),
    shut: () => db.getAllFromIndex('entries', 'shut'),
    async each(visit) {
      let after: [string, number] | null = null;
      for (;;) {
        const rows: EntryRow[] = await db.getAll(
          'entries',
          after === null ? null : IDBKeyRange.lowerBound(after, true),
          SYNC_WORKER.readStride,
        );
        if (rows.length > 0) await visit(rows);
        const last = rows.at(-1);
        if (!last || rows.length < SYNC_WORKER.readStride) return;
        after = [last.writer, last.counter];
      }
    },
    async eachStretch(visit) {
      for (const { writer } of await db.getAll('have'))
        for (let from = 1; ; from += SYNC_WORKER.readStride) {
          const next = from + SYNC_WORKER.readStride;
          await visit(writer, from, next - 1);
          if ((await db.getKey('entries', stretch(writer, next, Infinity))) === undefined) break;
        }
    },
    async add(tx, entries) {
      await Promise.all([
        ...entries.map(({ writer, counter, sealed }) => tx.objectStore('entries').add({ writer, counter, sealed })),
        widen(tx, entries),
      ]);
    },
    write,
    async takeOut(writer, counters) {
      const tx = syncTransaction(db, 'strict');
      const narrow = async () => {
        const store = tx.objectStore('have');
        const ranges = (await store.get(writer))?.ranges ?? [];
        const left = subtract(
          ranges,
          counters.reduce<Ranges>((all, counter) => addRange(all, counter, counter), []),
        );
        if (left.length === 0) await store.delete(writer);
        else await store.put({ writer, ranges: left });
      };
      await settled(
        tx,
        Promise.all([...counters.map((counter) => tx.objectStore('entries').delete([writer, counter])), narrow()]),
      );
    },
  };
}

/** New contents for a place. Null: none. */
interface Change extends EntryKey {
  readonly sealed: Uint8Array | null;
}

interface EntryStoreDeps {
  readonly rows: EntryRows;
  readonly open: (entry: Entry) => Opened;
  readonly digestOf: (sealed: Uint8Array) => string;
  /**
   * Resolves when these payloads are durable. Rejects where they cannot be stored. None of their
   * entries counts as here then.
   */
  readonly take: (payloads: readonly ReadPayload[]) => Promise<void>;
  /** These entries are durable now, and were not here before. */
  readonly onKept: (entries: readonly Entry[]) => void;
  /** These places have other bytes now, or none. Resolves when no other copy has the old bytes. */
  readonly onChanged: (changes: readonly Change[]) => Promise<void>;
  /** Must an entry with this date wait? ms since the epoch. */
  readonly isAhead: (time: number) => boolean;
  /**
   * The entries that cannot be opened yet, and those that wait because of a future date, with the
   * latest date. Called on each change.
   */
  readonly onShut: (count: number, ahead: { readonly entries: number; readonly latest: number }) => void;
}

export interface DeviceEntryStore extends EntryStore {
  /**
   * Tries waiting entries again: a key, a newer Roost, or their time has come, or the person has
   * agreed.
   */
  openShut(): Promise<void>;
  /**
   * Adds entries that were just sealed here, inside the caller's transaction. Fails where a place
   * is taken.
   */
  add(tx: SyncTransaction, entries: readonly Entry[]): Promise<void>;
  /** Gives the documents of all entries to the ledger again. */
  takeAgain(onProgress: (done: number) => void): Promise<void>;
  /** How many entries have a text in their documents. */
  countWith(has: (text: string) => boolean): Promise<number>;
  /** Ids of the documents in all entries. */
  documentIds(): Promise<ReadonlySet<string>>;
  /** Entries of one writer, from one counter to another, in order. */
  from(writer: string, from: number, to: number): Promise<readonly Entry[]>;
  /** Removes these entries, because all other replicas have different ones. */
  takeOut(writer: string, from: number, to: number): Promise<void>;
  /**
   * Replaces each entry by the result of `change`. Null: the entry stays. `onRewritten` gets the
   * durable ones, in batches.
   */
  rewrite(change: (entry: Entry) => Uint8Array | null, onRewritten: (entries: readonly Entry[]) => void): Promise<void>;
}

const sameBytes = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);
const keyOf = ({ writer, counter }: EntryKey): EntryKey => ({ writer, counter });
const nameOf = ({ writer, counter }: EntryKey) => `${writer} ${counter}`;

export function createEntryStore({
  rows,
  open,
  digestOf,
  take,
  onKept,
  onChanged,
  isAhead,
  onShut,
}: EntryStoreDeps): DeviceEntryStore {
  /** Runs one call at a time: two calls with the same entry must not both count it as new. */
  const inTurn = createQueue();

  async function tellShut() {
    const shut = await rows.shut();
    const waiting = shut.flatMap(({ ahead }) => ahead ?? []);
    const latest = waiting.reduce((last, time) => Math.max(last, time), 0);
    onShut(shut.length - waiting.length, { entries: waiting.length, latest });
  }

  /** Opens and reads an entry. `ahead`: it must wait. */
  function read(
    entry: Entry,
  ):
    | { readonly kind: 'open'; readonly payload: ReadPayload }
    | { readonly kind: 'ahead'; readonly payload: ReadPayload; readonly latest: number }
    | { readonly kind: 'shut' | 'forged' } {
    const opened = open(entry);
    if (!opened.ok) return { kind: opened.reason === 'forged' ? 'forged' : 'shut' };
    const payload = readPayload(opened.payload);
    if (payload === null) return { kind: 'shut' };
    const latest = latestOf(payload);
    return isAhead(latest) ? { kind: 'ahead', payload, latest } : { kind: 'open', payload };
  }

  async function put(entries: readonly Entry[], replace: boolean): Promise<PutOutcome> {
    const distinct = [...new Map(entries.map((entry) => [nameOf(entry), entry])).values()];
    const held = await rows.at(distinct);
    const conflicts: EntryKey[] = [];
    const refused: EntryKey[] = [];
    const payloads: ReadPayload[] = [];
    const taken: EntryRow[] = [];
    const fresh: EntryKey[] = [];
    distinct.forEach((entry, i) => {
      const here = held[i];
      if (here && sameBytes(here.sealed, entry.sealed)) return;
      const result = read(entry);
      // Check this first: a peer that holds a forged entry in a place of ours must drop it.
      if (result.kind === 'forged') {
        refused.push(keyOf(entry));
        return;
      }
      // An entry that could not be opened is replaced by one that can.
      if (here && !replace && !(here.shut === 1 && result.kind === 'open')) {
        conflicts.push(keyOf(entry));
        return;
      }
      if (result.kind === 'open') payloads.push(result.payload);
      taken.push({
        ...keyOf(entry),
        sealed: entry.sealed,
        ...(result.kind === 'open' ? {} : { shut: 1 as const }),
        ...(result.kind === 'ahead' ? { ahead: result.latest } : {}),
      });
      if (!here) fresh.push(keyOf(entry));
    });
    if (payloads.length > 0) await take(payloads);
    await rows.write(taken, fresh);
    const isFresh = new Set(fresh.map(nameOf));
    onKept(taken.filter((row) => isFresh.has(nameOf(row))));
    const changed = taken.filter((row) => !isFresh.has(nameOf(row)));
    if (changed.length > 0) await onChanged(changed);
    if (taken.some(({ shut }) => shut === 1)) await tellShut();
    return { stored: taken.map(keyOf), conflicts, refused };
  }

  return {
    async have(): Promise<Have> {
      await tellShut();
      return rows.have();
    },
    put: (entries, { replace }) => inTurn(() => put(entries, replace)),
    drop: (key, digest) =>
      inTurn(async () => {
        const [row] = await rows.at([key]);
        // The peer's report may be wrong. An entry that opens here stays.
        if (!row || digestOf(row.sealed) !== digest || row.shut !== 1 || row.ahead !== undefined) return false;
        await takeOut(key.writer, [key.counter]);
        return true;
      }),
    openShut: () =>
      inTurn(async () => {
        const shut = await rows.shut();
        const results = shut.map((row) => ({ row, result: read(row) }));
        const opened = results.flatMap(({ row, result }) =>
          result.kind === 'open' ? [{ row, payload: result.payload }] : [],
        );
        // A key has arrived for an entry with a future date.
        const ahead = results.flatMap(({ row, result }) =>
          result.kind === 'ahead' && row.ahead === undefined ? [{ ...row, ahead: result.latest }] : [],
        );
        await rows.write(ahead, []);
        if (opened.length > 0) {
          await take(opened.map(({ payload }) => payload));
          await rows.write(
            opened.map(({ row: { writer, counter, sealed } }) => ({ writer, counter, sealed })),
            [],
          );
        }
        await tellShut();
      }),
    add: rows.add,
    read: rows.read,
    from: rows.from,
    async takeAgain(onProgress) {
      let done = 0;
      await rows.each((some) =>
        inTurn(async () => {
          const payloads = some.flatMap((row) => {
            const result = read(row);
            // An entry that was accepted before needs no consent again.
            const taken = result.kind === 'open' || (result.kind === 'ahead' && row.shut !== 1);
            return taken ? [result.payload] : [];
          });
          if (payloads.length > 0) await take(payloads);
          onProgress((done += some.length));
        }),
      );
    },
    async countWith(has) {
      let count = 0;
      await rows.each((some) => {
        for (const entry of some) {
          const result = read(entry);
          if ('payload' in result && has(JSON.stringify(result.payload.docs ?? []))) count += 1;
        }
        return Promise.resolve();
      });
      return count;
    },
    async documentIds() {
      const ids = new Set<string>();
      await rows.each((some) => {
        for (const entry of some) {
          const result = read(entry);
          if (result.kind !== 'open' && result.kind !== 'ahead') continue;
          for (const doc of result.payload.docs ?? [])
            if (typeof doc === 'object' && doc !== null && '_id' in doc && typeof doc._id === 'string')
              ids.add(doc._id);
        }
        return Promise.resolve();
      });
      return ids;
    },
    takeOut: (writer, from, to) =>
      inTurn(async () => {
        const there = await rows.from(writer, from, to);
        await takeOut(
          writer,
          there.map(({ counter }) => counter),
        );
      }),
    rewrite: (change, onRewritten) =>
      rows.eachStretch(async (writer, from, to) => {
        const changed = await inTurn(async () => {
          const rewritten = (await rows.from(writer, from, to)).flatMap((row) => {
            const sealed = change(row);
            return sealed === null ? [] : [{ ...row, sealed }];
          });
          await rows.write(rewritten, []);
          if (rewritten.length > 0) await onChanged(rewritten);
          return rewritten;
        });
        if (changed.length > 0) onRewritten(changed);
      }),
  };

  async function takeOut(writer: string, counters: readonly number[]) {
    await rows.takeOut(writer, counters);
    await onChanged(counters.map((counter) => ({ writer, counter, sealed: null })));
  }
}
