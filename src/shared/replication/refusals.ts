/** Drops entries that a peer reports as unreadable, if the same bytes are still here. */
import type { Trying } from '../domain/platform/retry.ts';
import type { EntryStore } from '../protocol/sync/page.ts';
import type { Digested } from './frames.ts';
import type { Peer, PlaceSet } from './peer.ts';

interface RefusalsDeps {
  readonly store: Pick<EntryStore, 'drop'>;
  readonly here: PlaceSet;
  readonly trying: Pick<Trying, 'attempt'>;
  readonly peers: () => readonly Peer[];
  readonly onDropped: () => void;
}

interface Refusals {
  /** Handles a peer's `refused`. A relay has no key, so its reports are ignored. */
  heard(peer: Peer, refused: readonly Digested[]): void;
}

export function createRefusals({ store, here, trying, peers, onDropped }: RefusalsDeps): Refusals {
  return {
    heard(peer, refused) {
      if (peer.link.kind === 'relay') return;
      peer.tasks.add(async () => {
        for (const { digest, ...key } of refused) {
          if (!here.has(key)) continue;
          const dropped = await trying.attempt(() => store.drop(key, digest));
          if (!dropped?.value) continue;
          here.remove(key);
          for (const each of peers()) each.oweLess(key);
        }
        for (const each of peers()) each.flush();
        onDropped();
        return 'done';
      }, 'theirs');
    },
  };
}
