/**
 * Whether the same lies in the same place everywhere. A device that was restored from an older copy of its profile
 * writes at places that others have filled already; nobody asks for what it has, so that has to be looked for.
 *
 * Where a peer has a writer of ours, it is told the digests of some entries that both have: the last one, and some
 * before it at growing distances. Where it holds other bytes it answers with them (`conflict`), and then everything
 * is compared from the last one back, until a whole block agrees.
 */
import { contains, highest, intersect, lastOf, subtract, type Ranges } from '../../domain/ranges.ts';
import type { Entry, EntryKey } from '../sync/entries.ts';
import type { EntryStore } from '../sync/store.ts';
import type { Account } from './account.ts';
import type { ReplicaDeps } from './contract.ts';
import { digestOf } from './digest.ts';
import { DIGEST_BYTES, type Digested } from './frames.ts';
import type { Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';
import type { Trying } from './trying.ts';

export interface Comparing {
  /** The peer said everything it has. */
  heard(peer: Peer): void;
  /** The peer tells what lies there. */
  compare(peer: Peer, compared: readonly Digested[]): void;
  /** Entries that came met others here: the peer is shown those, except where these are its answer to the same. */
  met(peer: Peer, entries: readonly Entry[], answer: boolean): void;
}

/** Of the writer’s entries that both have: the last, and those 1, 2, 3, 4, 6, 8, 12, 16 … before it. */
export function samples(common: Ranges): number[] {
  const top = highest(common);
  const found = top > 0 ? [top] : [];
  for (let back = 1; back < top; back *= 2) {
    for (const each of back > 1 ? [back, back * 1.5] : [back]) if (contains(common, top - each)) found.push(top - each);
  }
  return found;
}

export function createComparing({ store, here, trying, settings, own, isReplaced, onConflict }: {
  readonly store: EntryStore;
  readonly here: Account;
  readonly trying: Trying;
  readonly settings: ReplicationSettings;
  readonly own: NonNullable<ReplicaDeps['own']>;
  /** Was it overwritten here, and is on its way to relays? Then it is no conflict. */
  readonly isReplaced: (key: EntryKey, peer: Peer) => boolean;
  readonly onConflict: NonNullable<ReplicaDeps['onConflict']>;
}): Comparing {
  /** By peer and writer: up to which counter it was compared, and down to which whole blocks were, and the lowest place that differs. */
  const compared = new WeakMap<Peer, Map<string, { top: number; walked: number; least: number }>>();
  const progressOf = (peer: Peer, writer: string) => {
    const ofPeer = compared.get(peer) ?? new Map<string, { top: number; walked: number; least: number }>();
    compared.set(peer, ofPeer);
    const progress = ofPeer.get(writer) ?? { top: 0, walked: Infinity, least: Infinity };
    ofPeer.set(writer, progress);
    return progress;
  };

  async function lies({ writer, counter }: EntryKey): Promise<Entry | null> {
    if (!here.has({ writer, counter })) return null;
    const read = await trying.attempt(() => store.read(writer, counter, counter, { newestFirst: true, maxBytes: 1 }));
    return read?.value[0] ?? null;
  }

  function tell(peer: Peer, writer: string, counters: readonly number[]): void {
    peer.tasks.add(async () => {
      const list: Digested[] = [];
      for (const counter of counters) {
        const entry = await lies({ writer, counter });
        if (entry) list.push({ writer, counter, digest: digestOf(entry.sealed) });
      }
      if (list.length > 0) peer.send({ kind: 'compare', compared: list });
      return 'done';
    });
  }

  /** Shows the peer what lies in these places, where it is not what it has itself. */
  function show(peer: Peer, places: readonly (EntryKey & { readonly digest?: string })[]): void {
    let rest = places;
    peer.tasks.add(async () => {
      const others: Entry[] = [];
      let bytes = 0;
      let looked = 0;
      for (const place of rest) {
        looked += 1;
        const entry = await lies(place);
        if (entry === null || digestOf(entry.sealed).slice(0, DIGEST_BYTES.compare * 2) === place.digest) continue;
        others.push(entry);
        bytes += entry.sealed.length;
        if (bytes >= settings.frameBytes) break;
      }
      rest = rest.slice(looked);
      if (others.length > 0) peer.send({ kind: 'conflict', entries: others });
      return rest.length > 0 ? 'again' : 'done';
    });
  }

  /** Compares the block below what was walked so far, and on to the lowest place that is known to differ. */
  function walk(peer: Peer, writer: string): void {
    const progress = progressOf(peer, writer);
    const common = intersect(here.of(writer), peer.has.of(writer));
    do {
      const block = lastOf(subtract(common, [[progress.walked, Infinity]]), settings.compareEntries, settings.compareEntries);
      const counters = block.flatMap(([start, end]) => Array.from({ length: end - start + 1 }, (_none, i) => start + i));
      const lowest = counters[0];
      if (lowest === undefined) return;
      progress.walked = lowest;
      tell(peer, writer, counters);
    } while (progress.walked > progress.least);
  }

  return {
    heard(peer) {
      for (const writer of here.writers()) {
        if (!own(writer)) continue;
        const common = intersect(here.of(writer), peer.has.of(writer));
        const progress = progressOf(peer, writer);
        const top = highest(common);
        if (top <= progress.top) continue;
        tell(peer, writer, progress.top === 0 ? samples(common) : [top]);
        progress.top = top;
      }
    },
    compare: (peer, list) => show(peer, list),
    met(peer, entries, answer) {
      const places = entries.filter((entry) => !isReplaced(entry, peer));
      for (const { writer, counter, sealed } of places) {
        onConflict({ writer, counter }, sealed);
        const progress = progressOf(peer, writer);
        progress.least = Math.min(progress.least, counter);
      }
      for (const writer of new Set(places.map((place) => place.writer))) if (own(writer)) walk(peer, writer);
      if (!answer) show(peer, places);
    },
  };
}
