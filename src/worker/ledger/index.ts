/**
 * The ledger, as a tab sees it: a client of the data worker that holds the ledger.
 *
 * A tab reaches the worker in one of two ways. Browsers with a SharedWorker share one for all tabs.
 * In other browsers one tab holds the Web Lock and serves the rest over a BroadcastChannel.
 *
 * Main types: `OwnerClient` (the calls), `OwnerConnection` (one way to the worker).
 *
 * Invariants:
 * - Each call is answered once, whatever happens to the worker or the connection.
 * - A refused write rejects with the name `StorageProblemError`.
 *
 * It does not know Fireproof. Of the worker it knows only the address.
 */
import { newId } from '../../shared/domain/platform/new-id.ts';
import { type After, realTimers } from '../../shared/domain/platform/timers.ts';
import { sentence } from '../../shared/domain/names.ts';
import type {
  FromDataWorker,
  WORKER_METHODS,
  WorkerCallName,
  WorkerNews,
  ToDataWorker,
} from '../../shared/protocol/worker.ts';
import { createRpcClient, type Connection, type ConnectionEnds, type RpcClient } from '../../shared/rpc/client.ts';
import { WORKER_CONNECTION } from './settings.ts';
import { inOneGo, liveAsTab, ownerGone, type FromTab, type Hello, type ToTab } from './tab.ts';

const NO_LOCKS = sentence`Roost needs Web Locks to keep its tabs from writing over each other. Every browser of the last years has them, where the page comes over https or from this machine.`;

interface ConnectionDeps {
  readonly locks: LockManager;
  readonly newId: () => string;
}

/** A tab's side of its connection to the data worker. */
type OwnerConnection = Connection<WorkerCallName>;
export type WorkerConnectionEnds = ConnectionEnds<WorkerNews>;

/** A refused write rejects with the name `StorageProblemError`. An invalid document rejects too. */
export type DataWorkerClient = RpcClient<typeof WORKER_METHODS, WorkerNews>;

interface ClientDeps {
  readonly open: (ends: WorkerConnectionEnds) => OwnerConnection;
  readonly newId: () => string;
  readonly after: After;
}

const NO_OWNER = sentence`The part of the page that stores everything does not answer. Reload the page; nothing that was stored is lost.`;

/** Creates a tab's client of the data worker over the given connection. */
export const createDataWorkerClient = (deps: ClientDeps): DataWorkerClient =>
  createRpcClient<typeof WORKER_METHODS, WorkerNews>({
    ...deps,
    times: WORKER_CONNECTION,
    isWelcome: ({ news }) => news === 'welcome',
    unanswered: (detail) => ({
      news: 'problem',
      problem: { kind: 'no-owner', detail: detail === null ? NO_OWNER : `${NO_OWNER} (${detail})` },
    }),
  });

/** Connections through the ports of this profile's one SharedWorker. */
function sharedConnections({ locks, newId }: ConnectionDeps): (ends: WorkerConnectionEnds) => OwnerConnection {
  return ({ take, gone }) => {
    const worker = new SharedWorker(new URL('../worker.ts', import.meta.url), {
      type: 'module',
      name: 'roost-owner',
    });
    const { port } = worker;
    const tab = newId();
    const closing = new AbortController();
    worker.addEventListener('error', (event) =>
      gone(event instanceof ErrorEvent ? event.message : 'it could not be started'),
    );
    // Worker and tab are built together, so each member of this list is a message of the worker.
    port.addEventListener('message', ({ data }: MessageEvent<readonly FromDataWorker[]>) => data.forEach(take));
    port.start();
    const die = liveAsTab(locks, tab, () => port.postMessage({ from: tab, hello: true } satisfies Hello));
    ownerGone(locks, closing.signal).then(
      () => gone(),
      (error: unknown) => {
        if (!closing.signal.aborted) gone(String(error));
      },
    );
    return {
      send: inOneGo<ToDataWorker>((messages) => port.postMessage(messages)),
      close() {
        closing.abort();
        die();
        port.close();
      },
    };
  };
}

const isToTab = (data: unknown): data is ToTab =>
  typeof data === 'object' &&
  data !== null &&
  (('owner' in data && data.owner === true) || ('to' in data && typeof data.to === 'string' && 'message' in data));

/**
 * Connections where there is no SharedWorker. Each tab starts its own dedicated worker. The worker
 * that gets the lock answers all tabs over the channel.
 *
 * A frozen or cached tab ends its worker, because that would hold the ledger and answer nobody. The
 * tab starts another worker when it is shown again.
 */
function channelConnections({ locks, newId }: ConnectionDeps): (ends: WorkerConnectionEnds) => OwnerConnection {
  let failed: (event: ErrorEvent) => void = () => undefined;
  const start = () => {
    const begun = new Worker(new URL('../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
    begun.addEventListener('error', (event) => failed(event));
    return begun;
  };
  let worker: Worker | null = start();
  const stop = () => {
    worker?.terminate();
    worker = null;
  };
  const resume = () => {
    worker ??= start();
  };
  document.addEventListener('freeze', stop);
  document.addEventListener('resume', resume);
  addEventListener('pagehide', stop);
  addEventListener('pageshow', resume);
  return ({ take, gone }) => {
    const tab = newId();
    const channel = new BroadcastChannel(WORKER_CONNECTION.channel);
    const post = (message: FromTab) => channel.postMessage(message);
    failed = (event) => gone(event.message);
    channel.addEventListener('message', ({ data }) => {
      if (!isToTab(data)) return;
      if ('owner' in data) post({ from: tab, hello: true });
      else if (data.to === tab) (data as { readonly message: readonly FromDataWorker[] }).message.forEach(take);
    });
    const die = liveAsTab(locks, tab, () => post({ from: tab, hello: true }));
    return {
      send: inOneGo<ToDataWorker>((message) => post({ from: tab, message })),
      close() {
        die();
        channel.close();
      },
    };
  };
}

/** Without Web Locks nothing keeps two tabs apart, so no tab opens the ledger. */
function noConnections({ take }: WorkerConnectionEnds): OwnerConnection {
  take({ news: 'problem', problem: { kind: 'unsupported', detail: NO_LOCKS } });
  // Answers pings, and nothing else.
  return { send: () => take({ pong: true }), close: () => undefined };
}

/** Opens this tab's connection to the data worker, and starts the worker if there is none. */
export function openDataWorker(): DataWorkerClient {
  const { after } = realTimers;
  // Absent in old browsers, and on pages served over plain http from another machine, whatever the
  // types say.
  const locks: LockManager | undefined = navigator.locks;
  const connections = () => {
    if (!locks) return noConnections;
    return typeof SharedWorker === 'undefined'
      ? channelConnections({ locks, newId })
      : sharedConnections({ locks, newId });
  };
  return createDataWorkerClient({ open: connections(), newId, after });
}

/** Asks the browser for persistent storage. Null: the browser does not say. */
export async function askPersistence(): Promise<boolean | null> {
  // Absent in insecure contexts and some browsers, whatever the types say.
  const storage: StorageManager | undefined = navigator.storage;
  return storage && 'persist' in storage ? storage.persist() : null;
}
