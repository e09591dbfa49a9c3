/** The archive's worker, as the page starts it: a file of its own beside the page. */
import type { ArchiveWorker } from './client.ts';

export function spawnArchiveWorker(): ArchiveWorker {
  return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'roost-archive' });
}
