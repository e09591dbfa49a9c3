/** Notices that nothing has been said for a while. */
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';

export interface Idle {
  /** Something was said. */
  touch(): void;
}

/**
 * `elapsed`: ms, only ever forward. `busy` says whether something is being said; then the time
 * begins anew.
 */
export function createIdle({
  idleMs,
  timers,
  elapsed,
  busy,
  onIdle,
}: {
  idleMs: number;
  timers: Timers;
  elapsed: () => number;
  busy: () => boolean;
  onIdle: () => void;
}): Idle {
  let last = elapsed();
  const watch = (ms: number) =>
    timers.after(ms, () => {
      const quiet = elapsed() - last;
      if (busy()) watch(idleMs);
      else if (quiet >= idleMs) onIdle();
      else watch(idleMs - quiet);
    });
  watch(idleMs);
  return {
    touch() {
      last = elapsed();
    },
  };
}
