/**
 * Each seed is a fire of claims through kills, and so many random operations on a board. The whole
 * of `--seeds 4` is 40,000 operations and 80 kills.
 */
import { createRandom } from '../support/random.ts';
import { startPostgres } from '../support/postgres-process.ts';
import { createStorePlace } from '../support/stores.ts';
import type { LongPart } from './long-part.ts';
import { operateAtRandom } from './projects-board.ts';
import { claimUnderFire, type FirePlan } from './projects-fire.ts';
import { withSeed } from './seeds.ts';

const FIRE: FirePlan = { agents: 50, tasks: 200, kills: 20, leaseMs: 30_000, workMs: 4_000, killWithinMs: 8_000 };
const STEPS = 10_000;

export const projectsPart: LongPart = {
  name: 'projects',
  short: ['relay/projects/board/projects-claims.test.ts', 'relay/projects/board/projects-fire.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const server = await startPostgres();
    process.env['TEST_POSTGRES_URL'] = server.url;
    try {
      for (const seed of seeds)
        await withSeed('projects', seed, async () => {
          const fire = await createStorePlace('postgres', { fresh: true });
          console.log(`seed ${seed}: ${await claimUnderFire(fire, FIRE, createRandom(seed))}`);
          await fire.remove();
          const board = await createStorePlace('sqlite', { fresh: true });
          const store = await board.open();
          const done = await operateAtRandom([store, store], { seed, steps: STEPS });
          await store.close();
          await board.remove();
          console.log(`seed ${seed}: ${STEPS} operations, of which were accepted ${JSON.stringify(done)}`);
        });
    } finally {
      await server.stop();
    }
    return `${seeds.length} fires with ${FIRE.kills} kills each, ${seeds.length * STEPS} random operations; every rule held`;
  },
};
