/** How it stands with the person's other devices, as the owner tells it. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { DeviceId } from '../../shared/domain/ids.ts';
import type { SyncStatus } from '../../shared/protocol/sync/page.ts';
import { attempt } from './attempt.ts';
import type { TextStorage, OwnerPort } from './ports.ts';

/**
 * The mark of a team in localStorage, where a worker cannot reach: it brings this device back where
 * IndexedDB is lost.
 */
const MARK = 'roost-mark';

export interface DevicesState {
  /** null: not known yet. */
  readonly status: SyncStatus | null;
  /** Why it could not be asked for, for people; null: it could, or nobody asked yet. */
  readonly failed: string | null;
}

export interface Devices {
  readonly store: StoreApi<DevicesState>;
  hear(status: SyncStatus): void;
  /** The mark as it is to stand in localStorage from now on; null: none. */
  keepMark(text: string | null): void;
  /** Asks the owner now. Resolves when the answer is in the store. */
  refresh(): Promise<void>;
}

export function createDevices(owner: OwnerPort, storage: Pick<TextStorage, 'read' | 'write'>): Devices {
  const store = createStore<DevicesState>()(() => ({ status: null, failed: null }));
  const keepMark = (text: string | null) => void storage.write(MARK, text ?? '');
  let offered: Promise<void> | null = null;
  /** Before anything is believed of a browser in which nobody seems to live: has somebody? */
  async function offer() {
    const { text } = await owner.call('offerMark', { text: storage.read(MARK) });
    keepMark(text);
  }
  const hear = (status: SyncStatus) => store.setState({ status, failed: null });
  return {
    store,
    hear,
    keepMark,
    async refresh() {
      offered ??= offer();
      const asked = await attempt(offered.then(() => owner.call('syncStatus')).then(hear));
      if (!asked.ok) offered = null;
      if (!asked.ok) store.setState({ failed: asked.reason });
    },
  };
}

/** This device among those of its household; null: there are no others. */
export const selfOf = ({ status }: DevicesState): DeviceId | null =>
  status?.kind === 'shared' ? status.deviceId : null;

const NOBODY: readonly string[] = [];

/** Agents whose last session is not whole on this device yet. */
export const arrivingOf = ({ status }: DevicesState): readonly string[] =>
  status?.kind === 'shared' || status?.kind === 'returning' ? status.arriving : NOBODY;
