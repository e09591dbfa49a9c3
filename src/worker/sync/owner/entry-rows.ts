/**
 * Entries as they lie in the device's database, with what is there of each writer. They are kept
 * sealed.
 */
import { addRange, subtract } from '../../../shared/domain/ranges.ts';
import type { Entry, EntryKey, EntryStore, Have, Ranges } from '../../../shared/protocol/sync/page.ts';
import { SYNC_OWNER } from '../settings.ts';
import { settled, syncTransaction, type EntryRow, type SyncDatabase, type SyncTransaction } from './database.ts';

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
