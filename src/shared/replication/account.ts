/**
 * A set of entry places: the places that are here, that a peer says it has, or that are on their
 * way.
 */
import { addOne, contains, NO_RANGES, subtract, union, type Ranges } from '../domain/ranges.ts';
import type { EntryKey, Have } from '../protocol/sync/page.ts';

export interface Account {
  of(writer: string): Ranges;
  has(key: EntryKey): boolean;
  add(key: EntryKey): void;
  addAll(have: Have): void;
  remove(key: EntryKey): void;
  removeAll(have: Have): void;
  /** Replaces the contents with these. */
  set(have: Have): void;
  isEmpty(): boolean;
  /** The number of ranges, as a measure of memory. */
  ranges(): number;
  writers(): Iterable<string>;
  /** The current contents. Later changes do not show in it. */
  now(): Have;
}

export function createAccount(): Account {
  const held = new Map<string, Ranges>();
  const put = (writer: string, ranges: Ranges) =>
    ranges.length === 0 ? held.delete(writer) : held.set(writer, ranges);
  const of = (writer: string) => held.get(writer) ?? NO_RANGES;
  const sum = (measure: (ranges: Ranges) => number) => {
    let total = 0;
    for (const ranges of held.values()) total += measure(ranges);
    return total;
  };
  return {
    of,
    has: ({ writer, counter }) => contains(of(writer), counter),
    add: ({ writer, counter }) => put(writer, addOne(of(writer), counter)),
    addAll(have) {
      for (const [writer, ranges] of have) put(writer, union(of(writer), ranges));
    },
    remove: ({ writer, counter }) => put(writer, subtract(of(writer), [[counter, counter]])),
    removeAll(have) {
      for (const [writer, ranges] of have) put(writer, subtract(of(writer), ranges));
    },
    set(have) {
      held.clear();
      for (const [writer, ranges] of have) put(writer, ranges);
    },
    isEmpty: () => held.size === 0,
    ranges: () => sum((ranges) => ranges.length),
    writers: () => held.keys(),
    now: () => new Map(held),
  };
}

/** The places of these entries. */
export function haveOf(keys: Iterable<EntryKey>): Have {
  const account = createAccount();
  for (const key of keys) account.add(key);
  return account.now();
}
