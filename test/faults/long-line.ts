/**
 * The connection to the relay is cut in mid-answer, as chance has it, again and again in one
 * household.
 */
import { createRandom } from '../support/random.ts';
import { createHouse } from './household.ts';
import { lineCutRound } from './line-cut.ts';
import { createLine } from './line.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

export const linePart: LongPart = {
  name: 'line',
  short: ['faults/line-cut.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const line = await createLine();
    const house = await createHouse(1, { proxy: line.proxy });
    try {
      for (const seed of seeds) {
        await withSeed('line', seed, () => lineCutRound(house, line, createRandom(seed)));
        console.log(`seed ${seed}: caught up, once and in order`);
      }
    } finally {
      await house.close();
      await line.close();
    }
    return `${seeds.length} lines cut; nothing lost, nothing twice`;
  },
};
