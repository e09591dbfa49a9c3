/** The ledger for the worker that owns it. Tabs import ../index.ts. */
export { createAnew } from './anew.ts';
export { serveChannel, servePorts } from './connections.ts';
export { takeOwnersLock } from './lock.ts';
export { openLedger } from './open-ledger.ts';
export { patient } from './open-ledger.ts';
export { createProblems } from '../problems.ts';
export { StorageProblemError, storageProblemOf } from '../problem.ts';
export { emptyDatabases } from './empty.ts';
export { createStorageBuckets } from './storage-bucket.ts';
