/**
 * Whether the same lies in the same place everywhere. A device that was restored from an older copy of its profile
 * writes at places that others have filled already; nobody asks for what it has, so that has to be looked for.
 *
 * Where a peer has a writer of ours, it is told the digests of some entries that both have: the last one, and those
 * 1, 2, 4, 8 … before it. Where it holds other bytes it answers with them (`conflict`), and from there on back
 * whole blocks are compared, until one agrees.
 */
import { contains, highest, intersect, lastOf, type Ranges } from '../../domain/ranges.ts';
import type { Entry, EntryKey } from '../sync/entries.ts';
import type { EntryStore } from '../sync/store.ts';
import type { Account } from './account.ts';
import type { ReplicaDeps } from './contract.ts';
import { digestOf, sameBytes } from './digest.ts';
import { DIGEST_BYTES, type Digested } from './frames.ts';
import { upTo, type Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';
import type { Trying } from './trying.ts';

export interface Comparing {
  /** The peer said everything it has. */
  heard(peer: Peer): void;
  /** The peer tells what lies there. */
  compare(peer: Peer, compared: readonly Digested[]): void;
  /** The peer has these bytes in places of ours. */
  conflict(peer: Peer, entries: readonly Entry[]): void;
  /** Entries of the peer’s met others here. */
  met(peer: Peer, entries: readonly Entry[]): void;
}

/** Of the writer’s entries that both have: the last, and those 1, 2, 4, 8 … before it. */
export function samples(common: Ranges): number[] {
  const top = highest(common);
  const found: number[] = top > 0 ? [top] : [];
  for (let back = 1; back < top; back *= 2) if (contains(common, top - back)) found.push(top - back);
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
  /** By peer and writer: up to which counter it was compared, and down to which whole blocks were. */
  const compared = new WeakMap<Peer, Map<string, { top: number; walked: number | null }>>();
  const progressOf = (peer: Peer, writer: string) => {
    const ofPeer = compared.get(peer) ?? new Map<string, { top: number; walked: number | null }>();
    compared.set(peer, ofPeer);
    const progress = ofPeer.get(writer) ?? { top: 0, walked: null };
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

  /** The block below what was walked so far. */
  function walk(peer: Peer, writer: string, from: number): void {
    const progress = progressOf(peer, writer);
    const common = intersect(intersect(here.of(writer), peer.has.of(writer)), [[1, Math.max(1, (progress.walked ?? from + 1) - 1)]]);
    const block = lastOf(common, settings.compareEntries, settings.compareEntries);
    const counters = block.flatMap(([start, end]) => Array.from({ length: end - start + 1 }, (_none, i) => start + i));
    const lowest = counters[0];
    if (lowest === undefined || lowest === progress.walked) return;
    progress.walked = lowest;
    tell(peer, writer, counters);
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
    compare(peer, list) {
      let rest = list;
      peer.tasks.add(async () => {
        const others: Entry[] = [];
        let bytes = 0;
        let looked = 0;
        for (const { digest, ...key } of rest) {
          looked += 1;
          const entry = await lies(key);
          if (entry === null || digestOf(entry.sealed).slice(0, DIGEST_BYTES.compare * 2) === digest) continue;
          others.push(entry);
          bytes += entry.sealed.length;
          if (bytes >= settings.frameBytes) break;
        }
        rest = rest.slice(looked);
        if (others.length > 0) peer.send({ kind: 'conflict', entries: others });
        return rest.length > 0 ? 'again' : 'done';
      });
    },
    conflict(peer, entries) {
      peer.tasks.add(async () => {
        const tops = new Map<string, number>();
        for (const theirs of entries) {
          const ours = await lies(theirs);
          if (ours === null || sameBytes(ours.sealed, theirs.sealed) || isReplaced(theirs, peer)) continue;
          onConflict({ writer: theirs.writer, counter: theirs.counter }, theirs.sealed);
          tops.set(theirs.writer, Math.max(theirs.counter, tops.get(theirs.writer) ?? 0));
        }
        for (const [writer, top] of tops) if (own(writer)) walk(peer, writer, top);
        return 'done';
      });
    },
    met(peer, entries) {
      for (const { writer, counter, sealed } of entries) onConflict({ writer, counter }, sealed);
      let rest = entries;
      peer.tasks.add(async () => {
        const ours: Entry[] = [];
        const some = upTo(rest, settings.frameBytes);
        for (const key of some) {
          const entry = await lies(key);
          if (entry) ours.push(entry);
        }
        rest = rest.slice(some.length);
        if (ours.length > 0) peer.send({ kind: 'conflict', entries: ours });
        return rest.length > 0 ? 'again' : 'done';
      });
    },
  };
}
