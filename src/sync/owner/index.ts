/** Synchronisation, for the worker that owns the ledger. */
export { openSyncDatabase } from './database.ts';
export { isSealing, openSync, type Sync } from './sync.ts';
export type { Called, LedgerPort, OpenSocket, Socket, SocketItem, SyncRelay } from './ports.ts';
