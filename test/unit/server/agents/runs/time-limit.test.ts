import { expect, it } from 'vitest';
import { createTimeLimit } from '../../../../../server/agents/runs/time-limit.ts';
import { createManualTimers } from '../../../../support/manual-timers.ts';

function limited(ms: number) {
  const timers = createManualTimers();
  let at = 0;
  let over = 0;
  const time = createTimeLimit({ ms, timers, elapsed: () => at, onOver: () => (over += 1) });
  return {
    time,
    over: () => over,
    pass(passed: number) {
      at += passed;
      timers.advance(passed);
    },
  };
}

it('ends a run after its time, which begins with its first request and once', () => {
  const { time, over, pass } = limited(100);
  pass(500);
  time.begin();
  pass(99);
  time.begin();
  expect(over()).toBe(0);
  pass(1);
  expect(over()).toBe(1);
});

it('stands still while the run waits, and goes on with what is left', () => {
  const { time, over, pass } = limited(100);
  time.begin();
  pass(60);
  const goOn = time.hold();
  pass(10_000);
  goOn();
  pass(39);
  expect(over()).toBe(0);
  pass(1);
  expect(over()).toBe(1);
});

it('stands still until the last of two waits is over, and a wait ends once', () => {
  const { time, over, pass } = limited(100);
  time.begin();
  const [first, second] = [time.hold(), time.hold()];
  first();
  first();
  pass(1_000);
  expect(over()).toBe(0);
  second();
  pass(100);
  expect(over()).toBe(1);
});

it('does not start during a wait', () => {
  const { time, over, pass } = limited(100);
  const goOn = time.hold();
  time.begin();
  pass(1_000);
  expect(over()).toBe(0);
  goOn();
  pass(100);
  expect(over()).toBe(1);
});
