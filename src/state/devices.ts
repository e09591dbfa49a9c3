/** How it stands with the person's other devices, as the owner tells it. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SyncStatus } from '../protocol/sync/page.ts';
import { attempt } from './actions/parts.ts';
import type { OwnerPort } from './ports.ts';

export interface DevicesState {
  /** null: not known yet. */
  readonly status: SyncStatus | null;
  /** Why it could not be asked for, for people; null: it could, or nobody asked yet. */
  readonly failed: string | null;
}

export interface Devices {
  readonly store: StoreApi<DevicesState>;
  hear(status: SyncStatus): void;
  /** Asks the owner now. Resolves when the answer is in the store. */
  refresh(): Promise<void>;
}

export function createDevices(owner: OwnerPort): Devices {
  const store = createStore<DevicesState>()(() => ({ status: null, failed: null }));
  const hear = (status: SyncStatus) => store.setState({ status, failed: null });
  return {
    store,
    hear,
    async refresh() {
      const asked = await attempt(owner.call('syncStatus').then(hear));
      if (!asked.ok) store.setState({ failed: asked.reason });
    },
  };
}

const NOBODY: readonly string[] = [];

/** Agents whose last session is not whole on this device yet. */
export const arrivingOf = ({ status }: DevicesState): readonly string[] => (status?.kind === 'shared' ? status.arriving : NOBODY);
