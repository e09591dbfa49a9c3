/**
 * Seals what this device writes. The transaction that stores an entry also takes its counter, so no
 * counter is used twice after a crash.
 *
 * A profile may be a copy of an older one. Other replicas then have entries where this device would
 * write. So a run continues a writer of an earlier run only if the relay has shown that the writer
 * ends there as it does here. Otherwise it begins a new writer.
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
  /** Does the relay have exactly the entries of this writer that are here? */
  readonly agrees: (writer: string) => boolean;
  /** The entries are durable. */
  readonly onSealed: (entries: readonly Entry[]) => void;
}

export interface Sealer {
  /**
   * Resolves when the entries are durable. `along` is stored in the same transaction. A rejected
   * call has written nothing.
   */
  seal(items: readonly Sealing[], along?: Partial<SyncMeta>): Promise<void>;
  /** Stops writing under this writer, because other replicas have different entries of it. */
  leave(writer: string): Promise<void>;
}

export function createSealer({ db, writers, entries, seal, newWriter, agrees, onSealed }: SealerDeps): Sealer {
  const inTurn = createQueue();
  /**
   * Writers that only this device can use: they were drawn in this run, or the relay agreed in it.
   */
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
          // This profile was restored from a copy. Entries of ours that it does not know have come
          // from elsewhere.
          await writers.retire(streams, true);
          sealed = await once(items, along);
        }
        if (sealed.length > 0) onSealed(sealed);
      }),
    leave: (writer) => inTurn(() => writers.fork(writer)),
  };
}
