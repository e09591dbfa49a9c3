/**
 * What came is handed to the store together: whatever came while it was busy goes with the next
 * turn.
 */
import type { Trying } from '../domain/platform/retry.ts';
import type { Entry, EntryKey } from '../protocol/sync/entries.ts';
import type { EntryStore, PutOutcome } from '../protocol/sync/store.ts';
import { createAccount, type Account } from './account.ts';
import type { Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

export interface Came {
  readonly entry: Entry;
  readonly from: Peer;
}
/**
 * push: new here, or asked for; replace: to overwrite; shown: what a peer has in a place of ours.
 */
export type Manner = 'push' | 'replace' | 'shown';

export interface Storing {
  /** Lets go of them where too much waits. */
  add(entries: readonly Entry[], from: Peer, manner: Exclude<Manner, 'shown'>): void;
  /** Is there room for answers to further requests? */
  hasRoom(): boolean;
  /** What came and is not stored yet. */
  readonly waiting: Account;
  /** The store is known to answer: begin. */
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
  const waiting = createAccount();
  let bytes = 0;
  let begun = false;
  let running: Promise<void> | null = null;

  /**
   * The next ones, of one kind, each place once: a store need not know what to do with two of one
   * place.
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
