/**
 * The ledger, as the data worker opens it. Tabs import `../index.ts` instead.
 *
 * The worker takes the Web Lock of the ledger, opens the journal and the views, rebuilds the views
 * where they are out of date, and serves the tabs.
 *
 * Main functions: `takeOwnersLock`, `openLedger`, `servePorts` and `serveChannel` (the two ways to
 * tabs), `emptyDatabases` (where the browser's database cannot be read any more).
 *
 * Invariants:
 * - Only the holder of the lock writes.
 * - A document is acknowledged only when the journal has it on disk.
 * - The views can be deleted at any time. They are rebuilt from the journal and the volumes.
 *
 * It does not know the relay, other devices, or how a document is shown.
 */
export {
  createAnew,
  serveChannel,
  servePorts,
  takeOwnersLock,
  openLedger,
  patient,
  emptyDatabases,
  createStorageBuckets,
} from './open-ledger.ts';
export { createProblems, StorageProblemError, storageProblemOf } from '../problem.ts';
