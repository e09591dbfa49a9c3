/** Answers to what peers ask for: entries are read only when the link has room for them. */
import type { Trying } from '../domain/platform/retry.ts';
import { intersect } from '../domain/ranges.ts';
import type { Entry, Have } from '../protocol/sync/entries.ts';
import type { EntryStore } from '../protocol/sync/store.ts';
import type { Account } from './account.ts';
import type { ReplicaDeps } from './contract.ts';
import type { Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';
import type { Task } from './tasks.ts';

export interface ServingDeps {
  readonly store: EntryStore;
  readonly here: Account;
  readonly trying: Trying;
  readonly priority: ReplicaDeps['priority'];
  readonly settings: ReplicationSettings;
  readonly peer: Peer;
}

/**
 * One frame answers a request, with as much of it as fits, the lower classes first, the newest of
 * each writer first; the peer asks for the rest again.
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
      // It believes that these are here: it is told what is.
      peer.oweAll();
      peer.flush();
    }
    return 'done';
  };
