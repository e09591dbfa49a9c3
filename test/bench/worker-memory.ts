/** How much memory the owner's worker holds, as its own debugger says after a garbage collection. */
import { readFile } from 'node:fs/promises';
import type { BrowserContext, CDPSession } from 'playwright-core';
import { z } from 'zod';

const heapSchema = z.object({
  usedSize: z.number(),
  totalSize: z.number(),
  embedderHeapUsedSize: z.number().default(0),
  backingStorageSize: z.number().default(0),
});
const messageSchema = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

export interface WorkerMemory {
  /** Bytes in use by JavaScript in the worker: heap, and buffers beside it. */
  readonly used: number;
  /** Bytes of the largest renderer process that are in memory: worker and tab together share one. */
  readonly resident: number;
}

/** Calls to a target that is not a page, which the driver knows only as messages. */
async function attach(session: CDPSession, targetId: string) {
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  let next = 0;
  return {
    call(method: string): Promise<unknown> {
      const id = ++next;
      return new Promise((resolve, reject) => {
        const listen = (event: { sessionId: string; message: string }) => {
          if (event.sessionId !== sessionId) return;
          const message = messageSchema.parse(JSON.parse(event.message));
          if (message.id !== id) return;
          session.off('Target.receivedMessageFromTarget', listen);
          if (message.error === undefined) resolve(message.result);
          else reject(new Error(`${method}: ${JSON.stringify(message.error)}`));
        };
        session.on('Target.receivedMessageFromTarget', listen);
        session
          .send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method, params: {} }) })
          .catch(reject);
      });
    },
  };
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

export async function workerMemory(context: BrowserContext): Promise<WorkerMemory> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  const { targetInfos } = await session.send('Target.getTargets');
  const owner = targetInfos.find(({ type }) => type === 'shared_worker');
  if (!owner) throw new Error('There is no owner.');
  const { call } = await attach(session, owner.targetId);
  await call('HeapProfiler.collectGarbage');
  const heap = heapSchema.parse(await call('Runtime.getHeapUsage'));
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const residents = await Promise.all(
    processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => residentOf(id)),
  );
  await session.detach();
  return {
    used: heap.usedSize + heap.embedderHeapUsedSize + heap.backingStorageSize,
    resident: Math.max(0, ...residents),
  };
}
