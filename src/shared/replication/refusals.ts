/**
 * What a peer cannot open, and says so: it is let go of, where it still lies here with those bytes.
 */
import type { Trying } from '../domain/platform/retry.ts';
import type { EntryStore } from '../protocol/sync/store.ts';
import type { Account } from './account.ts';
import type { Digested } from './frames.ts';
import type { Peer } from './peer.ts';

export interface RefusalsDeps {
  readonly store: Pick<EntryStore, 'drop'>;
  readonly here: Account;
  readonly trying: Pick<Trying, 'attempt'>;
  readonly peers: () => readonly Peer[];
  readonly onDropped: () => void;
}

export interface Refusals {
  /** A relay has no key, so it is not believed. */
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
