/** The two ways to an owner. Only what is named here of the worker reaches the page: its address. */
import { toTabSchema, tabLock, type FromTab } from '../line.ts';
import { OWNER_LINE } from '../settings.ts';
import type { Line, LineEnds } from './client.ts';

/** A port of the one SharedWorker of this profile. */
export function sharedLine({ take, gone }: LineEnds): Line {
  const worker = new SharedWorker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
  const { port } = worker;
  worker.addEventListener('error', (event) => gone(event instanceof ErrorEvent ? event.message : 'it could not be started'));
  port.addEventListener('message', ({ data }) => take(data));
  // Where browsers tell that the worker has ended; elsewhere an unanswered call finds out.
  port.addEventListener('close', () => gone());
  port.start();
  return {
    send: (message) => port.postMessage(message),
    close: () => port.close(),
  };
}

/**
 * The lines of one tab where there is no SharedWorker. The tab's own worker stands in for the owner's place,
 * and whichever tab's worker has it answers all of them over the channel.
 */
export function channelLines(tab: string, locks: LockManager): (ends: LineEnds) => Line {
  const worker = new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'roost-owner' });
  return ({ take, gone }) => {
    const channel = new BroadcastChannel(OWNER_LINE.channel);
    const post = (message: FromTab) => channel.postMessage(message);
    const failed = (event: ErrorEvent) => gone(event.message);
    worker.addEventListener('error', failed);
    channel.addEventListener('message', ({ data }) => {
      const parsed = toTabSchema.safeParse(data);
      if (!parsed.success) return;
      if ('owner' in parsed.data) post({ from: tab, hello: true });
      else if (parsed.data.to === tab) take(data.message);
    });
    let closed = false;
    let release: () => void = () => undefined;
    // The owner takes this lock's end for the tab's: it must be held before the owner hears of us.
    void locks.request(tabLock(tab), () => {
      if (closed) return Promise.resolve();
      post({ from: tab, hello: true });
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    return {
      send: (message) => post({ from: tab, message }),
      close() {
        closed = true;
        release();
        worker.removeEventListener('error', failed);
        channel.close();
      },
    };
  };
}
