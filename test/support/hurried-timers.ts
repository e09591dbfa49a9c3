/** Real timers that a test can make go off earlier. */
import { realTimers, type Timers } from '../../src/shared/domain/platform/timers.ts';

export interface HurriedTimers extends Timers {
  /**
   * Every timer that waits now goes off `ms` earlier, in order. Timers that are set later keep
   * their time.
   */
  hurry(ms: number): void;
}

interface WaitingTimer {
  at: number;
  readonly run: () => void;
  cancel: () => void;
}

export function createHurriedTimers(): HurriedTimers {
  const waiting = new Set<WaitingTimer>();
  function arm(timer: WaitingTimer): void {
    timer.cancel = realTimers.after(Math.max(0, timer.at - performance.now()), () => {
      waiting.delete(timer);
      timer.run();
    });
  }
  return {
    after(ms, run) {
      const timer: WaitingTimer = { at: performance.now() + ms, run, cancel: () => undefined };
      waiting.add(timer);
      arm(timer);
      return () => {
        waiting.delete(timer);
        timer.cancel();
      };
    },
    hurry(ms) {
      for (const timer of [...waiting].sort((a, b) => a.at - b.at)) {
        timer.cancel();
        timer.at -= ms;
        arm(timer);
      }
    },
  };
}
