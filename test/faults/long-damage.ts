import { createDamagedHome } from './damage.ts';
import { KINDS } from './damage-kinds.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** Said before, and by the lead's and eight agents' last session: about ten thousand documents. */
const MESSAGES = 9_400;
/**
 * From the page's opening until everything is there, for ten thousand documents on a quiet machine.
 * Shown, never demanded.
 */
const BAR_S = 10;

/**
 * A seed is a kind of damage, in the order in which they are listed: each meets a relay that has
 * everything, and then one that has nothing.
 */
export const damagePart: LongPart = {
  name: 'damage',
  short: ['faults/damage.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const home = await createDamagedHome({
      messages: Number(process.env['DAMAGE_MESSAGES'] ?? MESSAGES),
      from: 'built',
    });
    const kinds = seeds.flatMap((seed) => KINDS.slice(seed - 1, seed).map((kind) => ({ seed, kind })));
    const slowest = { ms: 0, name: '' };
    const failures: unknown[] = [];
    let rounds = 0;
    try {
      for (const relay of ['a relay that has everything', 'a relay that has nothing']) {
        if (relay.endsWith('nothing')) await home.freshRelay();
        for (const { seed, kind } of kinds) {
          // Nothing of it is on this device then.
          if (relay.endsWith('nothing') && kind.needsRelay) continue;
          rounds += 1;
          // The others are of interest all the same.
          await withSeed('damage', seed, async () => {
            const { ms, told } = await home.round(kind);
            if (ms > slowest.ms) Object.assign(slowest, { ms, name: kind.name });
            console.log(
              `${seed} ${kind.name}, ${relay}: ${home.documents} documents after ${(ms / 1_000).toFixed(1)} s (bar ${BAR_S} s), told ${told} times`,
            );
          }).catch((error: unknown) => {
            failures.push(error);
            console.log(`${seed} ${kind.name}, ${relay}: ${error instanceof Error ? error.message : String(error)}`);
          });
        }
      }
    } finally {
      await home.close();
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${rounds} rounds failed.`);
    return `${rounds} of ${rounds} rounds brought back ${home.documents} documents; the slowest, ${slowest.name}, took ${(slowest.ms / 1_000).toFixed(1)} s; the bar for 10,000 is ${BAR_S} s`;
  },
};
