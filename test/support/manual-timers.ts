/** Time that stands still until a test moves it. */
import type { Timers } from '../../src/shared/domain/platform/timers.ts';

export interface ManualTimers extends Timers {
  /** Lets `ms` pass; what falls due runs in order. */
  advance(ms: number): void;
  /** ms until each timer that waits, soonest first. */
  waiting(): readonly number[];
}

export function createManualTimers(): ManualTimers {
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  return {
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers = [...timers, timer].sort((a, b) => a.at - b.at);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (let next = timers[0]; next && next.at <= until; next = timers[0]) {
        now = next.at;
        timers = timers.slice(1);
        next.run();
      }
      now = until;
    },
    waiting: () => timers.map(({ at }) => at - now),
  };
}
