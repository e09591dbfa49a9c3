import { expect, it } from 'vitest';
import { createSilence } from '../../../../../../server/agents/minds/acp/turn.ts';
import { createManualTimers } from '../../../../../support/manual-timers.ts';

it('ends an ACP agent that is silent, but not while it waits for the person or for a tool', () => {
  const timers = createManualTimers();
  const silence = createSilence('Program', 600_000, timers);
  const ended: string[] = [];
  silence.watch(({ message }) => ended.push(message));
  const [question, tool] = [silence.hold(), silence.hold()];
  timers.advance(3_600_000);
  question();
  timers.advance(3_600_000);
  expect(ended).toEqual([]);
  tool();
  timers.advance(599_999);
  expect(ended).toEqual([]);
  timers.advance(1);
  expect(ended).toEqual(['Program said nothing for 10 minutes, and was ended.']);
});
