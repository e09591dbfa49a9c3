/**
 * Seals what this device writes. A counter is taken in the transaction that stores its entry, so that after a
 * crash none is used twice.
 */
import { createQueue } from '../../domain/queue.ts';
import type { Entry } from '../../protocol/sync/entries.ts';
import type { Lane } from '../contract.ts';
import { settled, syncTransaction, type SyncDatabase, type SyncMeta } from './database.ts';
import type { DeviceEntryStore } from './entry-store.ts';
import type { Counters, FormerWriter } from './records.ts';

export interface SealerDeps {
  readonly db: SyncDatabase;
  readonly counters: Counters;
  readonly former: readonly FormerWriter[];
  readonly entries: Pick<DeviceEntryStore, 'add'>;
  readonly seal: (writer: string, counter: number, payload: Uint8Array) => Uint8Array;
  readonly newWriter: (lane: Lane) => string;
  /** They are durable. */
  readonly onSealed: (entries: readonly Entry[]) => void;
}

export interface Sealing {
  readonly lane: Lane;
  /** See ./payload.ts. */
  readonly payload: Uint8Array;
}

export interface Sealer {
  /** Resolves when the entries are durable; `along` is remembered in the same transaction. Rejects, and has then written nothing. */
  seal(items: readonly Sealing[], along?: Partial<SyncMeta>): Promise<void>;
  /** Goes on under a new writer: another one has used these counters. */
  renewWriter(lane: Lane): Promise<void>;
  counters(): Counters;
  /** Writers that this device has or had, with what it wrote under each. */
  writers(): readonly FormerWriter[];
}

export function createSealer({ db, entries, seal, newWriter, onSealed, ...deps }: SealerDeps): Sealer {
  let { counters, former } = deps;
  const inTurn = createQueue();

  async function once(items: readonly Sealing[], along: Partial<SyncMeta>): Promise<readonly Entry[]> {
    let next = counters;
    const sealed = items.map(({ lane, payload }): Entry => {
      const { writer, next: counter } = next[lane];
      next = { ...next, [lane]: { writer, next: counter + 1 } };
      return { writer, counter, sealed: seal(writer, counter, payload) };
    });
    const tx = syncTransaction(db, 'strict');
    const meta = Object.entries({ ...along, counters: next });
    await settled(tx, Promise.all([entries.add(tx, sealed), ...meta.map(([name, value]) => tx.objectStore('meta').put(value, name))]));
    counters = next;
    return sealed;
  }

  async function renew(lanes: readonly Lane[]) {
    const next = { ...counters };
    for (const lane of lanes) next[lane] = { writer: newWriter(lane), next: 1 };
    const left = [...former, ...lanes.map((lane) => ({ lane, ...counters[lane] }))];
    const tx = syncTransaction(db, 'strict');
    const meta = tx.objectStore('meta');
    await settled(tx, Promise.all([meta.put(next, 'counters'), meta.put(left, 'former')]));
    counters = next;
    former = left;
  }

  return {
    counters: () => counters,
    writers: () => [...(['people', 'talk'] as const).map((lane) => ({ lane, ...counters[lane] })), ...former],
    seal: (items, along = {}) =>
      inTurn(async () => {
        let sealed: readonly Entry[];
        try {
          sealed = await once(items, along);
        } catch (error) {
          if (!(error instanceof DOMException && error.name === 'ConstraintError')) throw error;
          // Entries of ours have come from elsewhere that this profile, restored from a copy, knows nothing of.
          await renew([...new Set(items.map(({ lane }) => lane))]);
          sealed = await once(items, along);
        }
        if (sealed.length > 0) onSealed(sealed);
      }),
    renewWriter: (lane) => inTurn(() => renew([lane])),
  };
}
