/**
 * Homes and profiles of one run, in memory where there is room for them: a new home is some five
 * hundred files, and Postgres flushes at every commit, so that on a disk a good part of a run is
 * spent in the system. A process that is killed loses nothing by it; what a power cut leaves is
 * looked at on a disk of its own (`disk-image.ts`).
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Bytes that a whole run stays below by far. */
const ROOM = 4 * 2 ** 30;

/**
 * Before the first process of the tests begins: they take their temporary folders from what this
 * one says.
 */
export default function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ROOM) return;
  const folder = mkdtempSync(join(MEMORY, 'roost-'));
  // Run by root, the Postgres of the tests is another user.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
  return () => {
    delete process.env['TMPDIR'];
    rmSync(folder, { recursive: true, force: true });
  };
}
