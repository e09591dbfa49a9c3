/** State of the person's other devices, as the data worker announces it. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { DeviceId } from '../../shared/domain/ids.ts';
import type { SyncStatus } from '../../shared/protocol/sync/page.ts';
import { attempt } from './attempt.ts';
import type { TextStorage, DataWorkerPort } from './ports.ts';

/**
 * The mark of a team in localStorage, which a worker cannot reach. It restores this device when
 * IndexedDB is lost.
 */
const MARK = 'roost-mark';

export interface DevicesState {
  /** null: unknown yet. */
  readonly status: SyncStatus | null;
  /** Why the request failed, for people; null: it succeeded, or was not made yet. */
  readonly failed: string | null;
}

export interface Devices {
  readonly store: StoreApi<DevicesState>;
  hear(status: SyncStatus): void;
  /** Stores the mark in localStorage; null: removes it. */
  keepMark(text: string | null): void;
  /** Asks the data worker now. Resolves when the answer is in the store. */
  refresh(): Promise<void>;
}

export function createDevices(dataWorker: DataWorkerPort, storage: Pick<TextStorage, 'read' | 'write'>): Devices {
  const store = createStore<DevicesState>()(() => ({ status: null, failed: null }));
  const keepMark = (text: string | null) => void storage.write(MARK, text ?? '');
  let offered: Promise<void> | null = null;
  /** Before a browser counts as empty, the data worker checks the mark of an earlier team. */
  async function offer() {
    const { text } = await dataWorker.call('offerMark', { text: storage.read(MARK) });
    keepMark(text);
  }
  const hear = (status: SyncStatus) => store.setState({ status, failed: null });
  return {
    store,
    hear,
    keepMark,
    async refresh() {
      offered ??= offer();
      const asked = await attempt(offered.then(() => dataWorker.call('syncStatus')).then(hear));
      if (!asked.ok) offered = null;
      if (!asked.ok) store.setState({ failed: asked.reason });
    },
  };
}

/** This device's id within its household; null: there are no others. */
export const selfOf = ({ status }: DevicesState): DeviceId | null =>
  status?.kind === 'shared' ? status.deviceId : null;

const NOBODY: readonly string[] = [];

/** Agents whose last session is not complete on this device yet. */
export const arrivingOf = ({ status }: DevicesState): readonly string[] =>
  status?.kind === 'shared' || status?.kind === 'returning' ? status.arriving : NOBODY;
