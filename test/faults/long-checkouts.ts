/** Clean-up of checkouts in random states, ten for each seed. */
import { cleanUp } from './checkouts.ts';
import type { LongPart } from './long-part.ts';

const EACH = 10;

export const checkoutsPart: LongPart = {
  name: 'checkouts',
  short: ['relay/projects/checkouts/checkouts.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const { states, deleted } = await cleanUp(
      seeds.flatMap((seed) => Array.from({ length: EACH }, (_, i) => seed * EACH + i)),
    );
    return `${states} states, ${deleted} of them could be deleted, and nothing was only there`;
  },
};
