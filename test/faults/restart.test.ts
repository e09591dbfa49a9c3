import { expect, it } from 'vitest';
import { killInStates, statesOf } from './restart.ts';

it('starts after a kill in a claim, at a card, in a delivery, in an answer and in forgetting, and every rule of its parts holds', async () => {
  const states = statesOf(
    'session, the lead is in the middle of an answer',
    'approval, waits',
    'claim, under way, with a commit',
    'webhook, acknowledged',
    'forgetting, under way for 5 ms',
  );
  expect(states).toHaveLength(5);
  expect(await killInStates(states, ['at once'])).toBe(5);
});
