/**
 * What the peers are told when entries were written here, or were put into the store: which were
 * new, refused, or others than theirs.
 */
import type { Entry } from '../protocol/sync/entries.ts';
import type { PutOutcome } from '../protocol/sync/store.ts';
import type { Account } from './account.ts';
import { digestOf } from './frames.ts';
import type { Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';
import { keyOf, type Came, type Manner } from './storing.ts';

const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, { sealed }) => sum + sealed.length, 0);

export interface AnnouncerDeps {
  readonly here: Account;
  readonly peers: () => readonly Peer[];
  readonly settings: ReplicationSettings;
  /** Does this replica hand on what it is given? */
  readonly forwards: boolean;
  /** These of the peer's lie in places that hold others here. */
  readonly onMet: (peer: Peer, others: readonly Entry[]) => void;
}

export interface Announcer {
  push(peer: Peer, entries: readonly Entry[]): void;
  /** The store has answered. */
  put(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void;
}

export function createAnnouncer({ here, peers, settings, forwards, onMet }: AnnouncerDeps): Announcer {
  /**
   * New entries go to a peer at once where they are few and it has room; otherwise it is told of
   * them, and asks.
   */
  function push(peer: Peer, entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    const fits = entries.length <= settings.askEntries && bytesOf(entries) <= settings.pushBytes;
    if (
      fits &&
      peer.announced() &&
      peer.heard &&
      peer.hasRoom() &&
      peer.send({ kind: 'entries', request: null, replace: false, entries })
    )
      return;
    peer.owe(entries);
  }

  function put(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void {
    const [stored, refused, conflicts] = [outcome.stored, outcome.refused, outcome.conflicts].map(
      (keys) => new Set(keys.map(keyOf)),
    );
    const came = (keys: Set<string> | undefined, peer: Peer) =>
      batch.filter(({ entry, from }) => from === peer && keys?.has(keyOf(entry))).map(({ entry }) => entry);
    // Also what was here before: between two answers of the store an account may be behind.
    for (const { entry } of batch) if (!refused?.has(keyOf(entry))) here.add(entry);
    for (const peer of new Set(batch.map(({ from }) => from))) {
      const bad = came(refused, peer);
      for (const key of bad) peer.has.remove(key);
      if (bad.length > 0 && peer.hasRoom())
        peer.send({
          kind: 'refused',
          refused: bad.map((entry) => ({
            writer: entry.writer,
            counter: entry.counter,
            digest: digestOf(entry.sealed),
          })),
        });
      const others = came(conflicts, peer);
      if (others.length > 0 && manner !== 'shown') onMet(peer, others);
      // What is here is acknowledged, also where it was here before.
      const good = batch
        .filter(({ entry, from }) => from === peer && here.has(entry) && !conflicts?.has(keyOf(entry)))
        .map(({ entry }) => entry);
      peer.owe(good);
    }
    for (const peer of peers()) {
      const fresh = batch
        .filter(({ entry, from }) => from !== peer && stored?.has(keyOf(entry)))
        .map(({ entry }) => entry);
      if (manner === 'replace') peer.oweReplaced(fresh);
      else {
        const lacking = fresh.filter((entry) => !peer.has.has(entry));
        if (forwards) push(peer, lacking);
        // Whoever has it too waits to hear that the relay does.
        peer.owe(forwards ? fresh.filter((entry) => peer.has.has(entry)) : lacking);
      }
      peer.flush();
    }
  }

  return { push, put };
}
