/** The two ways to an owner. Only what is named here of the worker reaches the page: its address. */
import type { FromOwner, ToOwner } from '../../protocol/worker.ts';
import { inOneGo, liveAsTab, ownerGone, toTabSchema, type FromTab, type Hello } from '../line.ts';
import { OWNER_LINE } from '../settings.ts';
import type { Line, LineEnds } from './client.ts';

export interface LineDeps {
  readonly locks: LockManager;
  readonly newId: () => string;
}

/** Ports of the one SharedWorker of this profile. */
export function sharedLines({ locks, newId }: LineDeps): (ends: LineEnds) => Line {
  return ({ take, gone }) => {
    const worker = new SharedWorker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
    const { port } = worker;
    const tab = newId();
    const closing = new AbortController();
    worker.addEventListener('error', (event) => gone(event instanceof ErrorEvent ? event.message : 'it could not be started'));
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

/**
 * The lines of one tab where there is no SharedWorker. The tab's own worker stands in for the owner's place,
 * and whichever tab's worker has it answers all of them over the channel.
 */
export function channelLines({ locks, newId }: LineDeps): (ends: LineEnds) => Line {
  const worker = new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
  return ({ take, gone }) => {
    const tab = newId();
    const channel = new BroadcastChannel(OWNER_LINE.channel);
    const post = (message: FromTab) => channel.postMessage(message);
    const failed = (event: ErrorEvent) => gone(event.message);
    worker.addEventListener('error', failed);
    channel.addEventListener('message', ({ data }) => {
      const parsed = toTabSchema.safeParse(data);
      if (!parsed.success) return;
      if ('owner' in parsed.data) post({ from: tab, hello: true });
      else if (parsed.data.to === tab) (data as { readonly message: readonly FromOwner[] }).message.forEach(take);
    });
    const die = liveAsTab(locks, tab, () => post({ from: tab, hello: true }));
    return {
      send: inOneGo<ToOwner>((message) => post({ from: tab, message })),
      close() {
        die();
        worker.removeEventListener('error', failed);
        channel.close();
      },
    };
  };
}
