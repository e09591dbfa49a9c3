/**
 * Seals what this device writes. A counter is taken in the transaction that stores its entry, so
 * that after a crash none is used twice.
 *
 * A profile may be a copy of an older one, and then others have entries where this one would write.
 * So a run goes on under a writer of an earlier run only where the relay has shown that it ends
 * there as it does here; otherwise it begins a new one.
 */
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import type { Stream } from '../contract.ts';
import { type DeviceEntryStore, settled, type SyncDatabase, type SyncMeta, syncTransaction } from './entry-store.ts';
import type { OwnWriters } from './keys.ts';
import { type Sealing, STREAMS } from './relay-connection.ts';

export interface SealerDeps {
  readonly db: SyncDatabase;
  readonly writers: OwnWriters;
  readonly entries: Pick<DeviceEntryStore, 'add'>;
  readonly seal: (writer: string, counter: number, payload: Uint8Array) => Uint8Array;
  readonly newWriter: (stream: Stream) => string;
  /** Does the relay have of this writer what is here, and nothing else? */
  readonly agrees: (writer: string) => boolean;
  /** They are durable. */
  readonly onSealed: (entries: readonly Entry[]) => void;
}

export interface Sealer {
  /**
   * Resolves when the entries are durable; `along` is remembered in the same transaction. Rejects,
   * and has then written nothing.
   */
  seal(items: readonly Sealing[], along?: Partial<SyncMeta>): Promise<void>;
  /** Writes no more under this one: others have other entries of it. */
  leave(writer: string): Promise<void>;
}

export function createSealer({ db, writers, entries, seal, newWriter, agrees, onSealed }: SealerDeps): Sealer {
  const inTurn = createQueue();
  /** Nobody else can write under these: they were drawn in this run, or the relay agreed in it. */
  const sure = new Set<string>();

  const isSure = ({ writer }: { readonly writer: string }) => {
    if (!sure.has(writer) && agrees(writer)) sure.add(writer);
    return sure.has(writer);
  };

  function draw(stream: Stream) {
    const writer = newWriter(stream);
    sure.add(writer);
    return { writer, next: 1 };
  }

  async function once(items: readonly Sealing[], along: Partial<SyncMeta>): Promise<readonly Entry[]> {
    let next = writers.counters();
    const sealed = items.map(({ stream, payload }): Entry => {
      const { writer, next: counter } = next[stream] ?? draw(stream);
      next = { ...next, [stream]: { writer, next: counter + 1 } };
      return { writer, counter, sealed: seal(writer, counter, payload) };
    });
    const tx = syncTransaction(db, 'strict');
    const meta = Object.entries({ ...along, counters: next });
    await settled(
      tx,
      Promise.all([entries.add(tx, sealed), ...meta.map(([name, value]) => tx.objectStore('meta').put(value, name))]),
    );
    writers.advanced(next);
    return sealed;
  }

  return {
    seal: (items, along = {}) =>
      inTurn(async () => {
        const streams = STREAMS.filter((stream) => items.some((item) => item.stream === stream));
        const unsure = writers.current().filter((one) => streams.includes(one.stream) && !isSure(one));
        if (unsure.length > 0)
          await writers.retire(
            unsure.map(({ stream }) => stream),
            false,
          );
        let sealed: readonly Entry[];
        try {
          sealed = await once(items, along);
        } catch (error) {
          if (!(error instanceof DOMException && error.name === 'ConstraintError')) throw error;
          // Entries of ours have come from elsewhere that this profile, restored from a copy, knows
          // nothing of.
          await writers.retire(streams, true);
          sealed = await once(items, along);
        }
        if (sealed.length > 0) onSealed(sealed);
      }),
    leave: (writer) => inTurn(() => writers.fork(writer)),
  };
}
