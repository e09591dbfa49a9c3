/** The ledger for the worker that owns it. Tabs import ../index.ts. */
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
