/**
 * How much memory the owner's worker holds, as its own debugger says after a garbage collection.
 */
import { readFile } from 'node:fs/promises';
import type { BrowserContext } from 'playwright-core';
import { z } from 'zod';
import { openOwnerTarget } from './owner-target.ts';

const heapSchema = z.object({
  usedSize: z.number(),
  totalSize: z.number(),
  embedderHeapUsedSize: z.number().default(0),
  backingStorageSize: z.number().default(0),
});
export interface WorkerMemory {
  /** Bytes in use by JavaScript in the worker: heap, and buffers beside it. */
  readonly used: number;
  /**
   * Bytes of the largest renderer process that are in memory: worker and tab together share one.
   */
  readonly resident: number;
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

export async function workerMemory(context: BrowserContext): Promise<WorkerMemory> {
  const { session, call, close } = await openOwnerTarget(context);
  await call('HeapProfiler.collectGarbage');
  const heap = heapSchema.parse(await call('Runtime.getHeapUsage'));
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const residents = await Promise.all(
    processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => residentOf(id)),
  );
  await close();
  return {
    used: heap.usedSize + heap.embedderHeapUsedSize + heap.backingStorageSize,
    resident: Math.max(0, ...residents),
  };
}
