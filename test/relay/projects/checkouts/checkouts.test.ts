/** Clean-up of checkouts: the short form of `npm run faults -- checkouts`. */
import { expect, it } from 'vitest';
import { cleanUp } from '../../../faults/checkouts.ts';

/** The checkout of one of them may be deleted. */
const SEEDS = [5, 6, 7, 8, 9];

it('a checkout is deleted only when the relay has all of its commits and files', async () => {
  const { states, deleted } = await cleanUp(SEEDS);
  expect(states).toBe(SEEDS.length);
  // Where none may be deleted, nothing was tried.
  expect(deleted).toBeGreaterThan(0);
});
