import { expect, it } from 'vitest';
import { killInStates, statesOf } from './restart.ts';

it('starts after a kill in a claim, at a card, in a delivery and in an answer, and every rule of its parts holds', async () => {
  const states = statesOf(
    'session, the lead is in the middle of an answer',
    'approval, waits',
    'claim, under way, with a commit',
    'webhook, acknowledged',
  );
  expect(states).toHaveLength(4);
  expect(await killInStates(states, ['at once'])).toBe(4);
});
