/** The state of one peer: what it has, and what it still has to be sent. */
import { addOne, contains, NO_RANGES, type Ranges, subtract, union } from '../domain/ranges.ts';
import type { Entry, EntryKey, EntryStore, Have, PutOutcome } from '../protocol/sync/page.ts';
import { errorMessage } from '../domain/platform/error-message.ts';
import type { Trying } from '../domain/platform/retry.ts';
import type { Link } from './contract.ts';
import { encodeFrame, type Frame } from './frames.ts';
import type { ReplicationSettings } from './settings.ts';

// A set of entry places: the places that are here, that a peer says it has, or that are on their
// way.

export interface PlaceSet {
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

export function createPlaceSet(): PlaceSet {
  const rangesOf = new Map<string, Ranges>();
  const put = (writer: string, ranges: Ranges) =>
    ranges.length === 0 ? rangesOf.delete(writer) : rangesOf.set(writer, ranges);
  const of = (writer: string) => rangesOf.get(writer) ?? NO_RANGES;
  const sum = (measure: (ranges: Ranges) => number) => {
    let total = 0;
    for (const ranges of rangesOf.values()) total += measure(ranges);
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
      rangesOf.clear();
      for (const [writer, ranges] of have) put(writer, ranges);
    },
    isEmpty: () => rangesOf.size === 0,
    ranges: () => sum((ranges) => ranges.length),
    writers: () => rangesOf.keys(),
    now: () => new Map(rangesOf),
  };
}

/** The places of these entries. */
export function haveOf(keys: Iterable<EntryKey>): Have {
  const account = createPlaceSet();
  for (const key of keys) account.add(key);
  return account.now();
}

// The peer's requests to the store. They run one after the other, and only while the link has room
// for the answers.

/** Resolves with `again` where more of the task is left. */
export type Task = () => Promise<'done' | 'again'>;

interface Tasks {
  /** Drops a task of the peer's where too many wait. The peer asks again. */
  add(task: Task, whose: 'ours' | 'theirs'): void;
  /** Tries to continue: there may be room again. */
  kick(): void;
  stop(): void;
  /** Resolves when no task runs. */
  idle(): Promise<void>;
}

function createTasks({ hasRoom, most }: { readonly hasRoom: () => boolean; readonly most: number }): Tasks {
  const waiting: Task[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;

  async function work(): Promise<void> {
    for (let task = waiting[0]; task !== undefined && !stopped && hasRoom(); task = waiting[0]) {
      if ((await task()) === 'done') waiting.shift();
    }
  }
  function kick(): void {
    if (running !== null || stopped || waiting.length === 0 || !hasRoom()) return;
    running = work().finally(() => {
      running = null;
      // Room or work may have arrived meanwhile.
      kick();
    });
  }
  return {
    add(task, whose) {
      if (stopped || (whose === 'theirs' && waiting.length >= most)) return;
      waiting.push(task);
      kick();
    },
    kick,
    stop() {
      stopped = true;
      waiting.length = 0;
    },
    idle: async () => {
      await running;
    },
  };
}

export interface Peer {
  readonly link: Link;
  /** What the peer says it has. */
  readonly has: PlaceSet;
  /** The part of `has` that is left to the relay for a moment. */
  readonly fresh: PlaceSet;
  /** Writers of this device that may differ at the peer. Nothing of them is fetched from it yet. */
  readonly doubted: Set<string>;
  readonly tasks: Tasks;
  /** Has the peer sent its whole `have`? */
  heard: boolean;
  /** Frames received from the peer. */
  frames: number;
  /** Requests on this link that were not answered in time. */
  lost: number;
  /** Has the peer been sent everything that is here? Until then nothing is pushed. */
  announced(): boolean;
  live(): boolean;
  hasRoom(): boolean;
  /** Returns false where the link is gone. */
  send(frame: Frame): boolean;
  /** Announces that these are here, or no longer here, as soon as there is room. */
  owe(keys: Iterable<EntryKey>): void;
  oweLess(key: EntryKey): void;
  /** Announces everything, as soon as there is room. */
  oweAll(): void;
  /** Sends these with `replace`, as soon as there is room. */
  oweReplaced(entries: readonly Entry[]): void;
  /** Sends what is owed, as far as there is room. */
  flush(): void;
  end(): void;
}

export function createPeer({
  link,
  settings,
  here,
  broken,
}: {
  readonly link: Link;
  readonly settings: ReplicationSettings;
  /** What is here. Null: not known yet. */
  readonly here: () => Have | null;
  readonly broken: (reason: string) => void;
}): Peer {
  const more = createPlaceSet();
  const less = createPlaceSet();
  let replaced: Entry[] = [];
  let all = true;
  let announced = false;
  let live = true;
  const hasRoom = () => live && link.buffered() < settings.bufferBytes;

  const peer: Peer = {
    link,
    has: createPlaceSet(),
    fresh: createPlaceSet(),
    doubted: new Set(),
    tasks: createTasks({ hasRoom, most: settings.peerTasks }),
    heard: false,
    frames: 0,
    lost: 0,
    announced: () => announced,
    live: () => live,
    hasRoom,
    send(frame) {
      if (!live) return false;
      try {
        link.send(encodeFrame(frame));
        return true;
      } catch (error) {
        broken(`A frame could not be handed on: ${errorMessage(error)}`);
        return false;
      }
    },
    owe(keys) {
      for (const key of keys) {
        less.remove(key);
        more.add(key);
      }
    },
    oweLess(key) {
      more.remove(key);
      less.add(key);
    },
    oweAll() {
      all = true;
    },
    oweReplaced(entries) {
      replaced.push(...entries);
    },
    flush() {
      const mine = here();
      if (mine === null) return;
      if (all && hasRoom() && peer.send({ kind: 'have', have: mine })) {
        all = false;
        announced = true;
        more.set(new Map());
        less.set(new Map());
      }
      if (!less.isEmpty() && hasRoom() && peer.send({ kind: 'less', have: less.now() })) less.set(new Map());
      if (!more.isEmpty() && hasRoom() && peer.send({ kind: 'more', have: more.now() })) more.set(new Map());
      while (replaced.length > 0 && hasRoom()) {
        const entries = upTo(replaced, settings.frameBytes);
        if (!peer.send({ kind: 'entries', request: null, replace: true, entries })) break;
        replaced = replaced.slice(entries.length);
      }
    },
    end() {
      live = false;
      replaced = [];
      peer.tasks.stop();
    },
  };
  return peer;
}

/** The first entries up to this many bytes. At least one. */
function upTo(entries: readonly Entry[], bytes: number): readonly Entry[] {
  let sum = 0;
  const end = entries.findIndex((entry, i) => (sum += entry.sealed.length) > bytes && i > 0);
  return end < 0 ? entries : entries.slice(0, end);
}

// Batches received entries for the store. Entries that arrive while the store is busy go into the
// next batch.

export interface Came {
  readonly entry: Entry;
  readonly from: Peer;
}
/**
 * `push`: new here, or requested. `replace`: overwrites. `shown`: the peer's entry at a place that
 * is filled here.
 */
export type Manner = 'push' | 'replace' | 'shown';

interface Storing {
  /** Drops the entries where too much waits. */
  add(entries: readonly Entry[], from: Peer, manner: Exclude<Manner, 'shown'>): void;
  /**
   * Checks a peer's entries as if they had been pushed. Resolves with those that differ from the
   * ones here.
   */
  check(from: Peer, entries: readonly Entry[]): Promise<readonly Entry[]>;
  /** Is there room for the answers to further requests? */
  hasRoom(): boolean;
  /** Received entries that are not stored yet. */
  readonly waiting: PlaceSet;
  /** Begins to store: the store's contents are known. */
  begin(): void;
  idle(): Promise<void>;
}

export const keyOf = ({ writer, counter }: EntryKey) => `${writer}/${counter}`;

export function createStoring({
  store,
  trying,
  settings,
  onPut,
}: {
  readonly store: EntryStore;
  readonly trying: Trying;
  readonly settings: ReplicationSettings;
  readonly onPut: (batch: readonly Came[], outcome: PutOutcome, manner: Manner) => void;
}): Storing {
  const queue: (Came & { readonly manner: Exclude<Manner, 'shown'> })[] = [];
  const waiting = createPlaceSet();
  let bytes = 0;
  let begun = false;
  let running: Promise<void> | null = null;

  /**
   * The next entries of one kind. Each place occurs once, so a store need not handle two entries of
   * one place.
   */
  function takeBatch(): (Came & { readonly manner: Exclude<Manner, 'shown'> })[] {
    const places = new Set<string>();
    let sum = 0;
    const end = queue.findIndex((came) => {
      const key = keyOf(came.entry);
      sum += came.entry.sealed.length;
      if (places.has(key) || came.manner !== queue[0]?.manner || (sum > settings.putBytes && places.size > 0))
        return true;
      places.add(key);
      return false;
    });
    return queue.splice(0, end < 0 ? queue.length : end);
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      const batch = takeBatch();
      const manner = batch[0]?.manner ?? 'push';
      const put = await trying.attempt(() =>
        store.put(
          batch.map(({ entry }) => entry),
          { replace: manner === 'replace' },
        ),
      );
      if (put === null) return;
      for (const { entry } of batch) {
        bytes -= entry.sealed.length;
        waiting.remove(entry);
      }
      onPut(batch, put.value, manner);
    }
  }
  function kick(): void {
    if (!begun || running !== null || queue.length === 0) return;
    running = work().finally(() => {
      running = null;
    });
  }
  return {
    waiting,
    add(entries, from, manner) {
      for (const entry of entries) {
        if (bytes > 0 && bytes + entry.sealed.length > settings.queueBytes) continue;
        bytes += entry.sealed.length;
        waiting.add(entry);
        queue.push({ entry, from, manner });
      }
      kick();
    },
    async check(from, entries) {
      const put = entries.length === 0 ? null : await trying.attempt(() => store.put(entries, { replace: false }));
      if (put === null) return [];
      onPut(
        entries.map((entry) => ({ entry, from })),
        put.value,
        'shown',
      );
      const others = new Set(put.value.conflicts.map(keyOf));
      return entries.filter((entry) => others.has(keyOf(entry)));
    },
    hasRoom: () => bytes * 2 <= settings.queueBytes,
    begin() {
      begun = true;
      kick();
    },
    idle: async () => {
      await running;
    },
  };
}
