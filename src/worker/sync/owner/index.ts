/** Synchronisation, for the worker that owns the ledger. */
export { openSyncDatabase } from './entry-store.ts';
export type { Sync } from './contract.ts';
export { householdOf, isSealing, openSync } from './sync.ts';
