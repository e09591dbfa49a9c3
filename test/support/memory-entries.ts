/** Keeps entries in memory, as IndexedDB and Postgres do on disk. */
import { addOne, NO_RANGES, type Ranges } from '../../src/shared/domain/ranges.ts';
import { digestOf } from '../../src/shared/replication/frames.ts';
import type { Entry, EntryKey, EntryStore, Have, PutOutcome } from '../../src/shared/protocol/sync/page.ts';

export interface MemoryEntries extends EntryStore {
  /** All of them, by writer and counter. */
  readonly all: ReadonlyMap<string, ReadonlyMap<number, Uint8Array>>;
  /** One line for each entry, in order: two stores with the same lines hold the same bytes. */
  lines(): readonly string[];
  /** Writes one's own: durable when it returns. */
  write(entries: readonly Entry[]): void;
  /** The same as the store’s, at once. */
  haveNow(): Have;
  putNow(...args: Parameters<EntryStore['put']>): PutOutcome;
  readNow(...args: Parameters<EntryStore['read']>): readonly Entry[];
  dropNow(...args: Parameters<EntryStore['drop']>): boolean;
  /** As it is now, apart from this one. */
  copy(): MemoryEntries;
}

/** `refuses`: what an entry would be refused for by a device. */
export function createMemoryEntries(
  refuses: (entry: Entry) => boolean = () => false,
  from: ReadonlyMap<string, ReadonlyMap<number, Uint8Array>> = new Map(),
): MemoryEntries {
  const all = new Map([...from].map(([writer, entries]) => [writer, new Map(entries)]));
  const ofWriter = (writer: string) => {
    const entries = all.get(writer) ?? new Map<number, Uint8Array>();
    all.set(writer, entries);
    return entries;
  };
  const memory: MemoryEntries = {
    all,
    lines: () =>
      [...all]
        .flatMap(([writer, entries]) =>
          [...entries].map(([counter, sealed]) => `${writer} ${counter} ${digestOf(sealed)}`),
        )
        .sort(),
    write(entries) {
      for (const { writer, counter, sealed } of entries) ofWriter(writer).set(counter, sealed);
    },
    copy: () => createMemoryEntries(refuses, all),
    haveNow: () =>
      new Map(
        [...all]
          .filter(([, entries]) => entries.size > 0)
          .map(([writer, entries]) => [
            writer,
            [...entries.keys()].sort((a, b) => a - b).reduce<Ranges>(addOne, NO_RANGES),
          ]),
      ),
    putNow(entries, { replace }) {
      const outcome: { stored: EntryKey[]; conflicts: EntryKey[]; refused: EntryKey[] } = {
        stored: [],
        conflicts: [],
        refused: [],
      };
      for (const entry of entries) {
        const { writer, counter, sealed } = entry;
        const key = { writer, counter };
        const before = ofWriter(writer).get(counter);
        const same = before !== undefined && digestOf(before) === digestOf(sealed);
        if (refuses(entry)) outcome.refused.push(key);
        else if (before === undefined || (replace && !same)) {
          ofWriter(writer).set(counter, sealed);
          outcome.stored.push(key);
        } else if (!same) outcome.conflicts.push(key);
      }
      return outcome;
    },
    readNow(writer, from, to, { newestFirst, maxBytes }) {
      const entries = all.get(writer) ?? new Map<number, Uint8Array>();
      const counters = [...entries.keys()]
        .filter((counter) => counter >= from && counter <= to)
        .sort((a, b) => (newestFirst ? b - a : a - b));
      const found: Entry[] = [];
      let bytes = 0;
      for (const counter of counters) {
        const sealed = entries.get(counter);
        if (!sealed || (found.length > 0 && bytes >= maxBytes)) break;
        found.push({ writer, counter, sealed });
        bytes += sealed.length;
      }
      return found;
    },
    dropNow({ writer, counter }, digest) {
      const sealed = all.get(writer)?.get(counter);
      if (sealed === undefined || digestOf(sealed) !== digest) return false;
      return ofWriter(writer).delete(counter);
    },
    have: async () => memory.haveNow(),
    put: async (...args) => memory.putNow(...args),
    read: async (...args) => memory.readNow(...args),
    drop: async (...args) => memory.dropNow(...args),
  };
  return memory;
}
