/**
 * One kill in each state of each part before a start at once, and one before a start an hour later.
 * Nothing in it is left to chance, so one seed is the whole.
 */
import type { LongPart } from './long-part.ts';
import { killInStates } from './restart.ts';
import { STATES } from './restart-states.ts';
import { withSeed } from './seeds.ts';

export const restartPart: LongPart = {
  name: 'restart',
  short: ['faults/restart.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    let kills = 0;
    await withSeed('restart', seeds[0] ?? 1, async () => {
      kills = await killInStates(STATES, ['at once', 'later'], (line) => console.log(line));
    });
    return `${STATES.length} states, ${kills} kills; each start came, and every rule held`;
  },
};
