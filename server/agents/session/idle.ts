/** Detects a session in which nothing has been said for a while. */
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';

export interface Idle {
  /** Restarts the idle time. */
  touch(): void;
  /** `idleMs` has changed. */
  changed(): void;
}

/**
 * `elapsed`: monotonic ms. `busy`: whether an answer is under way, which restarts the idle time.
 */
export function createIdle({
  idleMs,
  timers,
  elapsed,
  busy,
  onIdle,
}: {
  idleMs: () => number;
  timers: Timers;
  elapsed: () => number;
  busy: () => boolean;
  onIdle: () => void;
}): Idle {
  let last = elapsed();
  let cancel: () => void = () => undefined;
  const watch = (ms: number) => {
    cancel = timers.after(ms, () => {
      const quiet = elapsed() - last;
      if (busy()) watch(idleMs());
      else if (quiet >= idleMs()) onIdle();
      else watch(idleMs() - quiet);
    });
  };
  watch(idleMs());
  return {
    touch() {
      last = elapsed();
    },
    changed() {
      cancel();
      watch(Math.max(0, idleMs() - (elapsed() - last)));
    },
  };
}
