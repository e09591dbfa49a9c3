/** Each seed fills a small disk under a store once, at a random moment under load, and frees it. Needs root. */
import { createRandom } from '../support/random.ts';
import { fillDisk } from './full-disk.ts';
import type { LongPart } from './run.ts';
import { withSeed } from './seeds.ts';

export const fullDiskPart: LongPart = {
  name: 'full-disk',
  with: (seed) => Array.from({ length: seed }, (_none, i) => i + 1),
  async run(seeds) {
    let told = '';
    await withSeed('full-disk', seeds.length, async () => {
      const { acknowledged, refusals } = await fillDisk(seeds.length, createRandom(seeds[0] ?? 1), (round, said) => console.log(`seed ${round}: ${said}`));
      told = `${acknowledged} acknowledgements, nothing lost; refused with ${[...refusals].map((refusal) => `"${refusal}"`).join(', ')}`;
    });
    return `${seeds.length} times full and freed; ${told}`;
  },
};
