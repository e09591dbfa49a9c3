/**
 * Each seed is one power cut under load; some in a row share a writer, so that its log has been
 * through checkpoints. Needs root.
 */
import { createRandom } from '../support/random.ts';
import { cutPower } from './power.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

const CUTS_OF_A_WRITER = 10;

export const powerPart: LongPart = {
  name: 'power',
  short: ['relay/store/store-power.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    let acknowledged = 0;
    for (let from = 0; from < seeds.length; from += CUTS_OF_A_WRITER) {
      const some = seeds.slice(from, from + CUTS_OF_A_WRITER);
      const [first = 1] = some;
      await withSeed('power', first, async () => {
        const told = await cutPower(some.length, createRandom(first), (cut, events) =>
          console.log(`seed ${first + cut - 1}: the power went, ${events} acknowledged, nothing lost`),
        );
        acknowledged += told.acknowledged;
      });
    }
    return `${seeds.length} power cuts, ${acknowledged} acknowledgements; nothing lost, nothing twice`;
  },
};
