/**
 * Finds places where two replicas hold different entries. A device that was restored from an older
 * copy of its profile writes at places that others have filled already. No replica asks for an
 * entry that it has, so nothing else would find this.
 *
 * A replica sends a peer digests of some entries of its own writers that both have: the last one,
 * and some before it at growing distances. The peer answers with its entries where they differ. If
 * any differs, the replica compares all entries from the last one back, block by block, until a
 * whole block agrees. Only then does it report the conflicts, all at once. A device that dies
 * before finds them again. Until a writer agrees, the replica fetches nothing of it from that peer,
 * because that would hide the conflict.
 *
 * The writers that this device left because of a conflict are compared whole, block by block, once
 * on each link: they may differ anywhere.
 */
import type { Trying } from '../domain/platform/retry.ts';
import { contains, highest, intersect, lastOf, NO_RANGES, subtract, union, type Ranges } from '../domain/ranges.ts';
import type { Entry, EntryKey, EntryStore } from '../protocol/sync/page.ts';
import type { PlaceSet, Peer } from './peer.ts';
import type { ReplicaDeps } from './contract.ts';
import { DIGEST_BYTES, type Digested, digestOf } from './frames.ts';
import type { ReplicationSettings } from './settings.ts';

export interface Comparing {
  /** The peer has sent its whole `have`. */
  heard(peer: Peer): void;
  /** The peer asks for the entries here that differ from these digests. */
  compare(peer: Peer, request: number, compared: readonly Digested[]): void;
  /**
   * The peer sends its entries that differ from ours. `request` is the request that it answers.
   * With `more`, the answer is not complete yet.
   */
  shown(peer: Peer, request: number | null, entries: readonly Entry[], more: boolean): void;
  /** Entries of the peer met different ones here. The peer is sent ours. */
  met(peer: Peer, entries: readonly Entry[]): void;
}

/** The state of comparing one of our writers with a peer. */
interface Progress {
  /** The last counter that both had. */
  top: number;
  /** The request that is not answered yet, and whether its answers showed a difference so far. */
  request: number | null;
  differs: boolean;
  /** Compared down to this counter, block by block. Infinity: only samples were compared. */
  walked: number;
  /**
   * `steps`: requests so far. `seen`: requests at the peer's last `have`. If there were more since,
   * the comparison does not begin again.
   */
  steps: number;
  seen: number;
  readonly found: Map<number, Entry>;
  /** For a writer that this device left: the ranges that were compared. */
  whole: Ranges;
}

/**
 * Samples of the entries that both have: the last, and those 1, 2, 3, 4, 6, 8, 12, 16 … before it.
 */
function samples(common: Ranges): number[] {
  const top = highest(common);
  const sample = top > 0 ? [top] : [];
  for (let back = 1; back < top; back *= 2) {
    for (const each of back > 1 ? [back, back * 1.5] : [back])
      if (contains(common, top - each)) sample.push(top - each);
  }
  return sample;
}

const numbersOf = (ranges: Ranges) =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_none, i) => from + i));

interface ComparingDeps {
  readonly store: EntryStore;
  readonly here: PlaceSet;
  readonly trying: Trying;
  readonly settings: ReplicationSettings;
  readonly own: NonNullable<ReplicaDeps['own']>;
  readonly left: NonNullable<ReplicaDeps['left']>;
  /**
   * Has the store check entries that a peer sent. Resolves with those that differ from the ones
   * here.
   */
  readonly check: (peer: Peer, entries: readonly Entry[]) => Promise<readonly Entry[]>;
  /** Was the entry overwritten here, and is on its way to relays? Then it is no conflict. */
  readonly isReplaced: (key: EntryKey, peer: Peer) => boolean;
  readonly onConflict: NonNullable<ReplicaDeps['onConflict']>;
  /** Fetching of a doubted writer may go on. */
  readonly pump: () => void;
}

/** Reads the entries that are compared. */
function createReader({
  store,
  here,
  trying,
  settings,
}: Pick<ComparingDeps, 'store' | 'here' | 'trying' | 'settings'>) {
  async function lies({ writer, counter }: EntryKey): Promise<Entry | null> {
    if (!here.has({ writer, counter })) return null;
    const read = await trying.attempt(() => store.read(writer, counter, counter, { newestFirst: true, maxBytes: 1 }));
    return read?.value[0] ?? null;
  }

  return {
    async digests(places: ReadonlyMap<string, readonly number[]>): Promise<readonly Digested[]> {
      const list: Digested[] = [];
      for (const [writer, counters] of places) {
        for (const counter of counters) {
          const entry = await lies({ writer, counter });
          if (entry && list.length < settings.frameEntries)
            list.push({ writer, counter, digest: digestOf(entry.sealed) });
        }
      }
      return list;
    },
    /** Entries that differ from these digests, one frame at most. `rest`: the places left. */
    async differing<Place extends EntryKey & { readonly digest?: string }>(places: readonly Place[]) {
      const entries: Entry[] = [];
      let bytes = 0;
      let checked = 0;
      for (const place of places) {
        checked += 1;
        const entry = await lies(place);
        if (entry === null || digestOf(entry.sealed).slice(0, DIGEST_BYTES.compare * 2) === place.digest) continue;
        entries.push(entry);
        bytes += entry.sealed.length;
        if (bytes >= settings.frameBytes) break;
      }
      return { entries, rest: places.slice(checked) };
    },
  };
}

export function createComparing({
  store,
  here,
  trying,
  settings,
  own,
  left,
  check,
  isReplaced,
  onConflict,
  pump,
}: ComparingDeps): Comparing {
  const compared = new WeakMap<Peer, Map<string, Progress>>();
  const reader = createReader({ store, here, trying, settings });
  let last = 0;

  const progressesOf = (peer: Peer): Map<string, Progress> => {
    const found = compared.get(peer) ?? new Map<string, Progress>();
    compared.set(peer, found);
    return found;
  };
  const progressOf = (peer: Peer, writer: string): Progress => {
    const progress = progressesOf(peer).get(writer) ?? {
      top: 0,
      request: null,
      differs: false,
      walked: Infinity,
      steps: 0,
      seen: 0,
      found: new Map<number, Entry>(),
      whole: NO_RANGES,
    };
    progressesOf(peer).set(writer, progress);
    return progress;
  };
  const common = (peer: Peer, writer: string) => intersect(here.of(writer), peer.has.of(writer));

  /** Asks the peer to compare the digests at these counters, by writer. */
  function ask(peer: Peer, places: ReadonlyMap<string, readonly number[]>): void {
    const request = ++last;
    for (const writer of places.keys())
      Object.assign(progressOf(peer, writer), { request, differs: false, steps: progressOf(peer, writer).steps + 1 });
    peer.tasks.add(async () => {
      peer.send({ kind: 'compare', request, compared: await reader.digests(places) });
      return 'done';
    }, 'ours');
  }

  /** Sends the peer our entries at these places where they differ from its own. */
  function show(
    peer: Peer,
    request: number | null,
    places: readonly (EntryKey & { readonly digest?: string })[],
  ): void {
    let rest = places;
    peer.tasks.add(
      async () => {
        const { entries, rest: later } = await reader.differing(rest);
        rest = later;
        if (request !== null || entries.length > 0)
          peer.send({ kind: 'conflict', request, more: rest.length > 0, entries });
        return rest.length > 0 ? 'again' : 'done';
      },
      request === null ? 'ours' : 'theirs',
    );
  }

  /** The block of common counters before this one, ascending. */
  const blockBefore = (peer: Peer, writer: string, counter: number) =>
    numbersOf(
      lastOf(subtract(common(peer, writer), [[counter, Infinity]]), settings.compareEntries, settings.compareEntries),
    );

  /** Asks for the next block back from `walked`. False: there is none. */
  function walk(peer: Peer, writer: string): boolean {
    const progress = progressOf(peer, writer);
    const counters = blockBefore(peer, writer, progress.walked);
    const lowest = counters[0];
    if (lowest === undefined) return false;
    progress.walked = lowest;
    ask(peer, new Map([[writer, counters]]));
    return true;
  }

  function agreed(peer: Peer, writer: string): void {
    peer.doubted.delete(writer);
    pump();
  }

  function tell(peer: Peer, writer: string): void {
    const { found } = progressOf(peer, writer);
    progressesOf(peer).delete(writer);
    // The peer's next `have` shows whether the conflict is settled.
    peer.doubted.add(writer);
    for (const [counter, { sealed }] of [...found].sort(([x], [y]) => x - y)) onConflict({ writer, counter }, sealed);
  }

  /** Continues after an answered request. */
  function goOn(peer: Peer, writer: string): void {
    const progress = progressOf(peer, writer);
    const { found, walked, differs } = progress;
    progress.request = null;
    if (found.size === 0) {
      const block = left(writer) ? next(peer, writer, progress, common(peer, writer)) : [];
      return block.length > 0 ? ask(peer, new Map([[writer, block]])) : agreed(peer, writer);
    }
    const agrees = !differs && walked <= Math.min(...found.keys());
    const bytes = [...found.values()].reduce((sum, { sealed }) => sum + sealed.length, 0);
    if (agrees || bytes > settings.queueBytes || !walk(peer, writer)) tell(peer, writer);
  }

  /**
   * Notes entries that differ. Differences in our own writers are reported together, when all are
   * known.
   */
  function note(peer: Peer, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { writer, counter, sealed } = entry;
      if (isReplaced(entry, peer)) continue;
      if (!own(writer)) {
        onConflict({ writer, counter }, sealed);
        continue;
      }
      const progress = progressOf(peer, writer);
      progress.found.set(counter, entry);
      progress.differs = true;
      peer.doubted.add(writer);
    }
  }

  /** The counters of this writer to compare now. */
  function next(peer: Peer, writer: string, progress: Progress, ranges: Ranges): readonly number[] {
    if (left(writer)) {
      const block = lastOf(subtract(ranges, progress.whole), settings.compareEntries, settings.compareEntries);
      progress.whole = union(progress.whole, block);
      return numbersOf(block);
    }
    const isNew = highest(ranges) > progress.top;
    if (progress.top === 0 || (!isNew && peer.doubted.has(writer))) return samples(ranges);
    return isNew ? [highest(ranges)] : [];
  }

  /** Begins a comparison where a pushed entry met a different one, without a request of ours. */
  function begin(peer: Peer, others: readonly Entry[]): void {
    for (const writer of new Set(others.map((entry) => entry.writer))) {
      const progress = progressesOf(peer).get(writer);
      if (progress && progress.request === null && progress.found.size > 0) goOn(peer, writer);
    }
  }

  return {
    heard(peer) {
      const places = new Map<string, readonly number[]>();
      for (const writer of new Set([...here.writers(), ...peer.has.writers()])) {
        if (!own(writer)) continue;
        const ranges = common(peer, writer);
        const before = progressOf(peer, writer);
        if (before.request !== null && before.steps > before.seen) {
          before.seen = before.steps;
          continue;
        }
        // An answer is missing, so the result is unknown. Begin again.
        if (before.request !== null) progressesOf(peer).delete(writer);
        const progress = progressOf(peer, writer);
        const counters = next(peer, writer, progress, ranges);
        if (counters.length === 0) {
          agreed(peer, writer);
          continue;
        }
        const { whole } = progress;
        progressesOf(peer).delete(writer);
        Object.assign(progressOf(peer, writer), { top: highest(ranges), whole });
        peer.doubted.add(writer);
        places.set(writer, counters);
      }
      if (places.size > 0) ask(peer, places);
    },
    compare: (peer, request, list) => show(peer, request, list),
    shown(peer, request, entries, more) {
      peer.tasks.add(async () => {
        const others = await check(peer, entries);
        note(peer, others);
        if (request !== null && !more)
          for (const [writer, progress] of [...progressesOf(peer)])
            if (progress.request === request) goOn(peer, writer);
        begin(peer, others);
        return 'done';
      }, 'ours');
    },
    met(peer, entries) {
      note(peer, entries);
      begin(peer, entries);
      show(
        peer,
        null,
        entries.map(({ writer, counter }) => ({ writer, counter })),
      );
    },
  };
}
