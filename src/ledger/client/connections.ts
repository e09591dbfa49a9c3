/** The two ways to an owner. Only what is named here of the worker reaches the page: its address. */
import type { FromOwner, ToOwner } from '../../protocol/owner-rpc.ts';
import { inOneGo, liveAsTab, ownerGone, type FromTab, type Hello, type ToTab } from '../tab.ts';
import { OWNER_CONNECTION } from '../settings.ts';
import type { OwnerConnection, OwnerConnectionEnds } from './client.ts';

export interface ConnectionDeps {
  readonly locks: LockManager;
  readonly newId: () => string;
}

/** Ports of the one SharedWorker of this profile. */
export function sharedConnections({ locks, newId }: ConnectionDeps): (ends: OwnerConnectionEnds) => OwnerConnection {
  return ({ take, gone }) => {
    const worker = new SharedWorker(new URL('../../worker.ts', import.meta.url), {
      type: 'module',
      name: 'roost-owner',
    });
    const { port } = worker;
    const tab = newId();
    const closing = new AbortController();
    worker.addEventListener('error', (event) =>
      gone(event instanceof ErrorEvent ? event.message : 'it could not be started'),
    );
    // Owner and tab are built together: what comes in this list is what the owner sent.
    port.addEventListener('message', ({ data }: MessageEvent<readonly FromOwner[]>) => data.forEach(take));
    port.start();
    const die = liveAsTab(locks, tab, () => port.postMessage({ from: tab, hello: true } satisfies Hello));
    ownerGone(locks, closing.signal).then(
      () => gone(),
      (error: unknown) => {
        if (!closing.signal.aborted) gone(String(error));
      },
    );
    return {
      send: inOneGo<ToOwner>((messages) => port.postMessage(messages)),
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
 * The connections of one tab where there is no SharedWorker. The tab's own worker stands in for the owner's place,
 * and whichever tab's worker has it answers all of them over the channel.
 *
 * A tab that the browser freezes, or keeps for the back button, ends its worker: it would hold the ledger
 * and answer nobody. It begins another when it is shown again.
 */
export function channelConnections({ locks, newId }: ConnectionDeps): (ends: OwnerConnectionEnds) => OwnerConnection {
  let failed: (event: ErrorEvent) => void = () => undefined;
  const start = () => {
    const begun = new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
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
    const channel = new BroadcastChannel(OWNER_CONNECTION.channel);
    const post = (message: FromTab) => channel.postMessage(message);
    failed = (event) => gone(event.message);
    channel.addEventListener('message', ({ data }) => {
      if (!isToTab(data)) return;
      if ('owner' in data) post({ from: tab, hello: true });
      else if (data.to === tab) (data as { readonly message: readonly FromOwner[] }).message.forEach(take);
    });
    const die = liveAsTab(locks, tab, () => post({ from: tab, hello: true }));
    return {
      send: inOneGo<ToOwner>((message) => post({ from: tab, message })),
      close() {
        die();
        channel.close();
      },
    };
  };
}
