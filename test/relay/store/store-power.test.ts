import { describe, expect, it } from 'vitest';
import { cutPower } from '../../faults/power.ts';
import { mayMount } from '../../support/disk-image.ts';
import { createRandom } from '../../support/random.ts';

/** The long form is `npm run faults -- power`. */
const CUTS = 4;
const SEED = 7;

describe.skipIf(!(await mayMount()))('the embedded store, its plug pulled (needs root, to mount a disk)', () => {
  it(
    `has everything that was acknowledged after each of ${CUTS} power cuts under load`,
    { timeout: 240_000 },
    async () => {
      const { acknowledged } = await cutPower(CUTS, createRandom(SEED));
      expect(acknowledged).toBeGreaterThan(0);
    },
  );
});
