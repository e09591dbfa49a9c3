/**
 * A device's entries, for its replica: what comes is opened, given to the ledger, and kept as it
 * came. An entry counts as here only when what it carries is durable in the ledger, or when it
 * waits here: for a key, a newer Roost, or, where it is dated far ahead, for the person or its
 * time.
 */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import type { Entry, EntryKey, EntryStore, Have, PutOutcome, Ranges } from '../../../shared/protocol/sync/page.ts';
import { addRange, subtract } from '../../../shared/domain/ranges.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { SYNC_OWNER } from '../settings.ts';
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

// The device's own IndexedDB database of synchronisation: the household's keys, every sealed entry
// it has, and what it knows of the other devices. Entries are kept sealed, so that any device can
// hand on what any other one wrote.

interface EntryRow {
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
type SyncTransaction = IDBPTransaction<SyncSchema, (typeof STORES)[number][], 'readwrite'>;

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

interface OpenSyncOptions {
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

// Entries as they lie in the device's database, with what is there of each writer. They are kept
// sealed.

export interface EntryRows {
  have(): Promise<Have>;
  /** In the order of these places. */
  at(keys: readonly EntryKey[]): Promise<readonly (EntryRow | undefined)[]>;
  /** One after the other from one end, up to so many bytes, and at least one. */
  readonly read: EntryStore['read'];
  /** Entries of one writer, from one counter to another, in their order. */
  from(writer: string, from: number, to: number): Promise<readonly EntryRow[]>;
  /** Those that wait: for a key, a newer Roost, their time or the person. */
  shut(): Promise<readonly EntryRow[]>;
  /** Goes through all of them, some at a time. */
  each(visit: (entries: readonly EntryRow[]) => Promise<void>): Promise<void>;
  /** The same by stretches of counters, each writer for itself. */
  eachStretch(visit: (writer: string, from: number, to: number) => Promise<void>): Promise<void>;
  /**
   * Takes entries of our own that were just sealed, inside a transaction of the caller's; it fails
   * where a place is taken.
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
          ? [Math.max(low, high - SYNC_OWNER.readStride + 1), high]
          : [low, Math.min(high, low + SYNC_OWNER.readStride - 1)];
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
          SYNC_OWNER.readStride,
        );
        if (rows.length > 0) await visit(rows);
        const last = rows.at(-1);
        if (!last || rows.length < SYNC_OWNER.readStride) return;
        after = [last.writer, last.counter];
      }
    },
    async eachStretch(visit) {
      for (const { writer } of await db.getAll('have'))
        for (let from = 1; ; from += SYNC_OWNER.readStride) {
          const next = from + SYNC_OWNER.readStride;
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

/** Another content for a place; null: none. */
interface Change extends EntryKey {
  readonly sealed: Uint8Array | null;
}

interface EntryStoreDeps {
  readonly rows: EntryRows;
  readonly open: (entry: Entry) => Opened;
  readonly digestOf: (sealed: Uint8Array) => string;
  /**
   * Resolves when what these carry is durable. Rejects where it cannot be stored: nothing of them
   * counts as here then.
   */
  readonly take: (payloads: readonly ReadPayload[]) => Promise<void>;
  /** These are durable now, and were not here before. */
  readonly onKept: (entries: readonly Entry[]) => void;
  /**
   * These places have other bytes now, or none. Resolves when nothing else keeps what was there.
   */
  readonly onChanged: (changes: readonly Change[]) => Promise<void>;
  /** Is what is dated so late, in ms since the epoch, to wait? */
  readonly isAhead: (time: number) => boolean;
  /**
   * How many could not be opened yet, and how many wait because they are dated ahead, up to when,
   * when that changes.
   */
  readonly onShut: (count: number, ahead: { readonly entries: number; readonly latest: number }) => void;
}

export interface DeviceEntryStore extends EntryStore {
  /**
   * Tries those again that wait: a key has come, a newer Roost, their time, or the person has said
   * so.
   */
  openShut(): Promise<void>;
  /**
   * Takes entries of our own that were just sealed, inside a transaction of the caller's; it fails
   * where a place is taken.
   */
  add(tx: SyncTransaction, entries: readonly Entry[]): Promise<void>;
  /** Gives the ledger once more what all of them carry. */
  takeAgain(onProgress: (done: number) => void): Promise<void>;
  /** Ids of the documents that lie in any of them. */
  documentIds(): Promise<ReadonlySet<string>>;
  /** Entries of one writer, from one counter to another, in their order. */
  from(writer: string, from: number, to: number): Promise<readonly Entry[]>;
  /** Takes these out: they were not what everybody else has. */
  takeOut(writer: string, from: number, to: number): Promise<void>;
  /**
   * Goes through all of them and puts what `change` answers in the place of an entry (null: it
   * stays as it is). `onRewritten` is told of those that are durable, some at a time.
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
  /** Puts one after the other: two that bring the same entry must not both take it for new. */
  const inTurn = createQueue();

  async function tellShut() {
    const shut = await rows.shut();
    const waiting = shut.flatMap(({ ahead }) => ahead ?? []);
    const latest = waiting.reduce((last, time) => Math.max(last, time), 0);
    onShut(shut.length - waiting.length, { entries: waiting.length, latest });
  }

  /** Opened and read, or why not; `ahead`: it is to wait. */
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
      // Before all else: whoever holds a forged one in a place that is ours is to let go of it.
      if (result.kind === 'forged') {
        refused.push(keyOf(entry));
        return;
      }
      // What could not be opened gives way to what can.
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
        // Whoever says that it is broken may be wrong: what we can open stays.
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
        // A key has come to one that is dated ahead.
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
            // What was taken before is not asked for again.
            const taken = result.kind === 'open' || (result.kind === 'ahead' && row.shut !== 1);
            return taken ? [result.payload] : [];
          });
          if (payloads.length > 0) await take(payloads);
          onProgress((done += some.length));
        }),
      );
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
