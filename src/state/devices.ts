/** How it stands with the person's other devices. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SyncStatus } from '../protocol/sync/page.ts';

export interface DevicesState {
  /** null: not known yet. */
  readonly status: SyncStatus | null;
}

export type Devices = StoreApi<DevicesState>;

export const createDevices = (): Devices => createStore<DevicesState>(() => ({ status: null }));
