import { expect, it } from 'vitest';
import { killTransactions } from './long-transactions.ts';

/**
 * The long form, with kills in two transactions at a time as well, is `npm run faults --
 * transactions`.
 */
const SEED = 1;
const WITHIN_MS = 300;

it('a browser that is killed in one transaction at a time has its database when it is back', async () => {
  expect(await killTransactions([SEED], { withinMs: WITHIN_MS, kills: ['one'] })).toBe(0);
});
