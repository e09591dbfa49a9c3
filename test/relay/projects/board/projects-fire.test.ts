import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimUnderFire } from '../../../faults/projects-fire.ts';
import { createRandom } from '../../../support/random.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

/** The long form, with 50 agents, 200 tasks and 20 kills, is `npm run faults -- projects`. */
const PLAN = { agents: 10, tasks: 24, kills: 3, leaseMs: 2_000, workMs: 600, killWithinMs: 1_500 };

let place: StorePlace;
beforeAll(async () => {
  place = await createStorePlace('postgres');
});
afterAll(() => place.remove());

it('claims of two relay processes on one Postgres survive kills: one holder at a time, and no task lost', async () => {
  expect(await claimUnderFire(place, PLAN, createRandom(3))).toContain('all in the end');
});
