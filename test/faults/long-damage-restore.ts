import { createDamagedHome } from './damage.ts';
import { INTERRUPTIONS } from './damage-restore.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** Enough that a restore takes a while. */
const MESSAGES = 3_000;

/** A seed breaks once into a restore, each in the next way. */
export const damageRestorePart: LongPart = {
  name: 'damage-restore',
  short: ['faults/damage.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const home = await createDamagedHome({
      messages: Number(process.env['DAMAGE_MESSAGES'] ?? MESSAGES),
      from: 'built',
    });
    try {
      for (const seed of seeds) {
        const way = INTERRUPTIONS[(seed - 1) % INTERRUPTIONS.length];
        await withSeed('damage-restore', seed, async () => way?.run(home));
        console.log(`${seed} ${way?.name ?? ''}: ${home.documents} documents are there, once`);
      }
    } finally {
      await home.close();
    }
    return `${seeds.length} restores were broken into, and brought ${home.documents} documents back, once`;
  },
};
