/** The ledger for tabs: a client of its owner. Nothing of Fireproof is reachable from here. */
import { realTimers } from '../domain/platform/timers.ts';
import {
  createOwnerClient,
  type OwnerConnection,
  type OwnerConnectionEnds,
  type OwnerClient,
} from './client/client.ts';
import { channelConnections, sharedConnections } from './client/connections.ts';
import { sentence } from '../domain/sentence.ts';

export type { OwnerClient } from './client/client.ts';

const NO_LOCKS = sentence`Roost needs Web Locks to keep its tabs from writing over each other. Every browser of the last years has them, where the page comes over https or from this machine.`;

/** Where nothing keeps two tabs apart, none opens the ledger. */
function noConnections({ take }: OwnerConnectionEnds): OwnerConnection {
  take({ news: 'problem', problem: { kind: 'unsupported', detail: NO_LOCKS } });
  // Somebody is there, who says no more than that.
  return { send: () => take({ pong: true }), close: () => undefined };
}

/** Opens this tab's connection to the ledger's owner, and starts the owner where there is none. */
export function openOwner(): OwnerClient {
  const newId = () => crypto.randomUUID();
  const { after } = realTimers;
  // Absent in old browsers, and where the page came over plain http from another machine, whatever the types say.
  const locks: LockManager | undefined = navigator.locks;
  const connections = () => {
    if (!locks) return noConnections;
    return typeof SharedWorker === 'undefined'
      ? channelConnections({ locks, newId })
      : sharedConnections({ locks, newId });
  };
  return createOwnerClient({ open: connections(), newId, after });
}

/** Asks the browser to keep what is stored, whatever room it needs. null: it does not say. */
export async function askPersistence(): Promise<boolean | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  const storage: StorageManager | undefined = navigator.storage;
  return storage && 'persist' in storage ? storage.persist() : null;
}
