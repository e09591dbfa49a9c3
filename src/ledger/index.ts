/** The ledger for tabs: a client of its owner. Nothing of Fireproof is reachable from here. */
import { realTimers } from '../domain/platform/timers.ts';
import { createOwnerClient, type OwnerClient } from './client/client.ts';
import { channelLines, sharedLines } from './client/lines.ts';
import { soleLines } from './client/sole.ts';

export type { OwnerClient } from './client/client.ts';

/** Opens this tab's line to the ledger's owner, and starts the owner where there is none. */
export function openOwner(): OwnerClient {
  const newId = () => crypto.randomUUID();
  const { after } = realTimers;
  // Absent in old browsers, whatever the types say.
  const locks: LockManager | undefined = navigator.locks;
  const lines = () => {
    if (!locks) return soleLines({ newId, after });
    return typeof SharedWorker === 'undefined' ? channelLines({ locks, newId }) : sharedLines({ locks, newId });
  };
  return createOwnerClient({ openLine: lines(), newId, after });
}

/** Asks the browser to keep what is stored, whatever room it needs. null: it does not say. */
export async function askPersistence(): Promise<boolean | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  const storage: StorageManager | undefined = navigator.storage;
  return storage && 'persist' in storage ? storage.persist() : null;
}
