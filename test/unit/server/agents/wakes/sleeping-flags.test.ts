/** The queue in which sleeping flags are cleared, with a flood guard that a test opens by hand. */
import { expect, it } from 'vitest';
import { createFlags } from '../../../../../server/agents/wakes/ask.ts';
import { WAKE_SETTINGS } from '../../../../../server/agents/wakes/settings.ts';
import { createManualTimers } from '../../../../support/manual-timers.ts';
import { createTestClock } from '../../../../support/gate.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve));

it('asks again in order, also where one of the first is due a moment after those behind it', async () => {
  const clock = createTestClock(1_000_000);
  const timers = createManualTimers();
  const asleep = new Set(['a', 'b', 'c']);
  const granted: string[] = [];
  let slots = 0;
  // The guard says a moment later to each than to the one before it.
  let until = clock.now() + 1_000;
  const flags = createFlags({
    async ask({ target, source, way, reason, messageId }) {
      const isGranted = slots > 0;
      if (isGranted) {
        slots -= 1;
        granted.push(target);
        asleep.delete(target);
      }
      return {
        left: null,
        decision: {
          ...{
            decisionId: target,
            time: clock.now(),
            target,
            source,
            way,
            reason,
            messageId,
            callId: null,
            detail: '',
          },
          outcome: isGranted ? 'granted' : 'suppressed',
          check: isGranted ? null : 'flood',
          until: isGranted ? null : (until -= 1),
        },
      };
    },
    pauses: { isPaused: (agentId) => asleep.has(agentId), subscribe: () => () => undefined },
    host: { sessionId: () => 'session-1' as never },
    timers,
    now: clock.now,
    logger: { error: () => undefined },
    settings: WAKE_SETTINGS,
  });
  const source = { kind: 'agent', agentId: 'lyra' } as const;
  for (const target of ['a', 'b', 'c']) {
    const answer = await flags.clear({
      ...{ target, source, way: 'thread_added', reason: null, messageId: null, callerSession: null },
    });
    expect(answer.waits).toBe(true);
  }
  const pass = async (ms: number, step = 1) => {
    for (let passed = 0; passed < ms; passed += step) {
      clock.pass(step);
      timers.advance(step);
      await settled();
    }
  };
  await pass(990, 10);
  expect(granted).toEqual([]);
  slots = 1;
  await pass(11);
  expect(granted).toEqual(['a']);
  slots = 2;
  await pass(6_000, 50);
  expect(granted).toEqual(['a', 'b', 'c']);
  flags.close();
});
