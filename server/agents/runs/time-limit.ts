/** The time that a run may take. It stands still while the run waits for a run that it started. */
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';

export interface TimeLimit {
  /** The time begins. Only the first call counts. */
  begin(): void;
  /** The time stands still until the returned function is called. */
  hold(): () => void;
}

export interface TimeLimitDeps {
  readonly ms: number;
  readonly timers: Pick<Timers, 'after'>;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly onOver: () => void;
}

export function createTimeLimit({ ms, timers, elapsed, onOver }: TimeLimitDeps): TimeLimit {
  let remainingMs = ms;
  let hasBegun = false;
  let holds = 0;
  /** Null: the time stands still. */
  let goesSince: number | null = null;
  let cancel: () => void = () => undefined;

  function go(): void {
    if (!hasBegun || holds > 0) return;
    goesSince = elapsed();
    cancel = timers.after(remainingMs, onOver);
  }
  return {
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      go();
    },
    hold() {
      holds += 1;
      if (goesSince !== null) {
        cancel();
        remainingMs = Math.max(0, remainingMs - (elapsed() - goesSince));
        goesSince = null;
      }
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds -= 1;
        go();
      };
    },
  };
}
