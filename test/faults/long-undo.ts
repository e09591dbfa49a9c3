/**
 * Each seed is 200 random runs over an agent's folder and a worktree. Some of them are undone, and
 * that is undone. Every entry is compared with an independent look at the folders.
 */
import { undoAtRandom } from '../support/undo.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

const RUNS = 200;
const RESTORE_EVERY = 8;

export const undoPart: LongPart = {
  name: 'undo',
  short: ['relay/files/history/undo.test.ts', 'attacks/undo.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    let restores = 0;
    for (const seed of seeds)
      await withSeed('undo', seed, async () => {
        restores += (await undoAtRandom(seed, RUNS, RESTORE_EVERY)).restores;
      });
    return `${seeds.length * RUNS} runs, ${restores} restores, each byte-identical`;
  },
};
