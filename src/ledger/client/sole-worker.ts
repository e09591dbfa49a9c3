/** The worker of the one tab that works where there are no Web Locks. */
import type { FromOwner, ToOwner } from '../../protocol/worker.ts';
import { inOneGo } from '../line.ts';
import { SOLE_WORKER } from '../settings.ts';
import type { Line, LineEnds } from './client.ts';

export function startSoleWorker({ take, gone }: LineEnds): Line {
  const worker = new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: SOLE_WORKER });
  worker.addEventListener('error', (event) => gone(event.message));
  // Owner and tab are built together: what comes in this list is what the owner sent.
  worker.addEventListener('message', ({ data }: MessageEvent<readonly FromOwner[]>) => data.forEach(take));
  return {
    send: inOneGo<ToOwner>((messages) => worker.postMessage(messages)),
    close: () => worker.terminate(),
  };
}
