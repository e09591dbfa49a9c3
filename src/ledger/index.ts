/** The ledger for tabs: a client of its owner. Nothing of Fireproof is reachable from here. */
import { createOwnerClient, type OwnerClient } from './client/client.ts';
import { channelLines, sharedLines } from './client/lines.ts';

export type { OwnerClient } from './client/client.ts';

/** Opens this tab's line to the ledger's owner, and starts the owner where there is none. */
export function openOwner(): OwnerClient {
  const newId = () => crypto.randomUUID();
  const deps = { locks: navigator.locks, newId };
  return createOwnerClient({
    openLine: typeof SharedWorker === 'undefined' ? channelLines(deps) : sharedLines(deps),
    newId,
    after(ms, run) {
      const handle = setTimeout(run, ms);
      return () => clearTimeout(handle);
    },
  });
}

/** Asks the browser to keep what is stored, whatever room it needs. null: it does not say. */
export async function askPersistence(): Promise<boolean | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  const storage: StorageManager | undefined = navigator.storage;
  return storage && 'persist' in storage ? storage.persist() : null;
}
