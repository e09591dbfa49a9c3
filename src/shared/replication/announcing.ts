/**
 * Sends the peers new entries, and the store's results: stored, refused, or different from theirs.
 */
import type { Entry, PutOutcome } from '../protocol/sync/page.ts';
import { digestOf } from './frames.ts';
import { type Came, keyOf, type Manner, type Peer, type PlaceSet } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, { sealed }) => sum + sealed.length, 0);

interface AnnouncerDeps {
  readonly here: PlaceSet;
  readonly peers: () => readonly Peer[];
  readonly settings: ReplicationSettings;
  /** Does this replica pass received entries on? */
  readonly forwards: boolean;
  /** These entries of the peer differ from the ones here in the same places. */
  readonly onMet: (peer: Peer, others: readonly Entry[]) => void;
}

interface Announcer {
  push(peer: Peer, entries: readonly Entry[]): void;
  /** Reports the store's result for a batch. */
  put(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void;
}

export function createAnnouncer({ here, peers, settings, forwards, onMet }: AnnouncerDeps): Announcer {
  /**
   * Pushes new entries where they are few and the link has room. Otherwise the peer is notified of
   * them and asks.
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
    // Includes entries that were here before: between two results of the store an account may be
    // behind.
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
      // Acknowledge every entry that is here, including those that were here before.
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
        // A peer that has the entry too waits for the relay to acknowledge it.
        peer.owe(forwards ? fresh.filter((entry) => peer.has.has(entry)) : lacking);
      }
      peer.flush();
    }
  }

  return { push, put };
}
