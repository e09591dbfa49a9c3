/** Clean-up of checkouts: the short form of `npm run faults -- checkouts`. */
import { expect, it } from 'vitest';
import { cleanUp } from '../../../faults/checkouts.ts';

it('a checkout is deleted only when the relay has all of its commits and files', async () => {
  const seeds = Array.from({ length: 12 }, (_, i) => i + 1);
  const { states, deleted } = await cleanUp(seeds);
  expect(states).toBe(12);
  // Where none may be deleted, nothing was tried.
  expect(deleted).toBeGreaterThan(0);
});
