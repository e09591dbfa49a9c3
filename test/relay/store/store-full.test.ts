import { describe, expect, it } from 'vitest';
import { fillDisk } from '../../faults/full-disk.ts';
import { fillDiskOfRelay } from '../../faults/full-disk-relay.ts';
import { mayMount } from '../../support/disk-image.ts';
import { createRandom } from '../../support/random.ts';

/** The long form is `npm run faults -- full-disk --seeds 20`. */
const ROUNDS = 3;
const SEED = 5;
const RELAY_ROUNDS = 1;

describe.skipIf(!(await mayMount()))('the embedded store, its disk full (needs root, to mount a small one)', () => {
  it(
    `says so, goes on by itself after room was made, and has what it acknowledged, each of ${ROUNDS} times`,
    { timeout: 240_000 },
    async () => {
      const { acknowledged, refusals } = await fillDisk(ROUNDS, createRandom(SEED));
      expect(acknowledged).toBeGreaterThan(0);
      expect([...refusals].join()).toMatch(/database or disk is full/);
    },
  );

  it(
    'lets a session start and be answered after room was made, through a whole relay and without a restart',
    { timeout: 240_000 },
    async () => {
      expect((await fillDiskOfRelay(RELAY_ROUNDS, createRandom(SEED))).refusals.size).toBeGreaterThan(0);
    },
  );
});
