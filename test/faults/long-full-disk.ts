/**
 * Each seed fills a small disk under a store once, at a random moment under load, and frees it, and
 * then one under a whole relay. Needs root.
 */
import { createRandom } from '../support/random.ts';
import { fillDisk } from './full-disk.ts';
import { fillDiskOfRelay } from './full-disk-relay.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

export const fullDiskPart: LongPart = {
  name: 'full-disk',
  short: ['relay/store/store-full.test.ts'],
  with: (seed) => Array.from({ length: seed }, (_none, i) => i + 1),
  async run(seeds) {
    let told = '';
    await withSeed('full-disk', seeds.length, async () => {
      const { acknowledged, refusals } = await fillDisk(seeds.length, createRandom(seeds[0] ?? 1), (round, said) =>
        console.log(`seed ${round}: ${said}`),
      );
      const relay = await fillDiskOfRelay(seeds.length, createRandom(seeds[0] ?? 1));
      told = `${acknowledged} acknowledgements, nothing lost; refused with ${[...refusals].map((refusal) => `"${refusal}"`).join(', ')}; a whole relay went on each time, after it answered ${[...relay.refusals].join(' and ')}`;
    });
    return `${seeds.length} times full and freed; ${told}`;
  },
};
