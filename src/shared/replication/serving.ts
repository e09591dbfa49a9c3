/** Answers the requests of peers. Entries are read only when the link has room for them. */
import type { Trying } from '../domain/platform/retry.ts';
import { intersect } from '../domain/ranges.ts';
import type { Entry, EntryStore, Have } from '../protocol/sync/page.ts';
import type { ReplicaDeps } from './contract.ts';
import type { Peer, PlaceSet, Task } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

interface ServingDeps {
  readonly store: EntryStore;
  readonly here: PlaceSet;
  readonly trying: Trying;
  readonly priority: ReplicaDeps['priority'];
  readonly settings: ReplicationSettings;
  readonly peer: Peer;
}

/**
 * Answers a request with one frame and as many entries as fit. Lower classes come first, and the
 * newest entries of each writer. The peer asks for the rest again.
 */
export const answerTo = (
  { store, here, trying, priority, settings, peer }: ServingDeps,
  request: number,
  want: Have,
): Task =>
  async function answer() {
    const entries: Entry[] = [];
    let bytes = 0;
    const isFull = () => bytes >= settings.frameBytes || entries.length >= settings.askEntries;
    for (const [writer, ranges] of [...want].sort(([a], [b]) => priority(a) - priority(b))) {
      for (const [from, to] of [...intersect(ranges, here.of(writer))].reverse()) {
        if (isFull()) break;
        const read = await trying.attempt(() =>
          store.read(writer, from, to, { newestFirst: true, maxBytes: settings.frameBytes - bytes }),
        );
        if (read === null || !peer.live()) return 'done';
        for (const entry of read.value) {
          if (
            entries.length > 0 &&
            (bytes + entry.sealed.length > settings.frameBytes || entries.length >= settings.askEntries)
          ) {
            bytes = settings.frameBytes;
            break;
          }
          entries.push(entry);
          bytes += entry.sealed.length;
        }
      }
    }
    peer.send({ kind: 'entries', request, replace: false, entries });
    if (entries.length === 0) {
      // The peer believes that these are here. Send it what is.
      peer.oweAll();
      peer.flush();
    }
    return 'done';
  };
