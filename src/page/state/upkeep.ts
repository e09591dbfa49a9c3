/**
 * Long work on the ledger: how far its owner is, whichever tab asked for it, and how the last
 * rebuild of this tab ended.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { OwnerProgress, RebuildReport } from '../../shared/protocol/worker.ts';

type RebuildState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly report: RebuildReport }
  | { readonly kind: 'failed'; readonly reason: string };

export interface UpkeepState {
  /** null: no long work is under way. */
  readonly progress: OwnerProgress | null;
  readonly rebuild: RebuildState;
}

export const createUpkeep = (): StoreApi<UpkeepState> =>
  createStore<UpkeepState>()(() => ({ progress: null, rebuild: { kind: 'idle' } }));
