import { expect, it } from 'vitest';
import { killInStates, statesOf } from './restart.ts';

it('starts after a kill in any state, and keeps every rule of its parts', async () => {
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
