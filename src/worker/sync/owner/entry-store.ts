/**
 * A device's entries, for its replica: what comes is opened, given to the ledger, and kept as it
 * came. An entry counts as here only when what it carries is durable in the ledger, or when it
 * waits here: for a key, a newer Roost, or, where it is dated far ahead, for the person or its
 * time.
 */
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import type { Entry, EntryKey, EntryStore, Have, PutOutcome } from '../../../shared/protocol/sync/page.ts';
import type { Opened } from '../contract.ts';
import type { EntryRow, SyncTransaction } from './database.ts';
import type { EntryRows } from './entry-rows.ts';
import { latestOf, readPayload, type ReadPayload } from './payload.ts';

/** Another content for a place; null: none. */
interface Change extends EntryKey {
  readonly sealed: Uint8Array | null;
}

export interface EntryStoreDeps {
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
