/**
 * Every attack at once, in short; `npm run faults -- hostile` is the long form, which holds the
 * times against a limit, too.
 */
import { expect, it } from 'vitest';
import { ATTACKS } from '../faults/hostile/attacks/index.ts';
import { openMix } from '../faults/hostile/mix.ts';

const SEED = Number(process.env['HOSTILE_SEED'] ?? 1);

// A terminal lets in the second household, and another address is another machine: both as Linux
// has them.
it.skipIf(process.platform !== 'linux')(
  'A second household that attacks in every way gets nothing of the first, which is answered rightly all the while',
  { timeout: 180_000 },
  async () => {
    const mix = await openMix();
    let given;
    try {
      given = await mix.attack(SEED, 0);
    } finally {
      await mix.close();
    }
    expect(Object.keys(given.made).sort()).toEqual(ATTACKS.map(({ name }) => name).sort());
    expect(given.times.length).toBeGreaterThan(0);
  },
);
