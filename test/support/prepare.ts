/** Made before the first test of a run, so that none of them waits for it within its own time. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { relayMain } from './relay-build.ts';

const MAKE_TEMPLATE = fileURLToPath(new URL('./make-store-template.ts', import.meta.url));

export default async function setup(): Promise<void> {
  // In a process of its own: Vitest's has no `import.meta.resolve`, by which the store finds its
  // engine.
  await promisify(execFile)(process.execPath, ['--import', 'tsx', MAKE_TEMPLATE]);
  await relayMain();
}
