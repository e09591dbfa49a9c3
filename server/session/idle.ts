/** Notices that nothing has been said for a while. */
import type { Timers } from './timers.ts';

export interface Idle {
  /** Something was said. */
  touch(): void;
}

/** `busy` says whether something is being said; then the time begins anew. */
export function createIdle({ idleMs, timers, now, busy, onIdle }: { idleMs: number; timers: Timers; now: () => number; busy: () => boolean; onIdle: () => void }): Idle {
  let last = now();
  const watch = (ms: number) =>
    timers.after(ms, () => {
      const quiet = now() - last;
      if (busy()) watch(idleMs);
      else if (quiet >= idleMs) onIdle();
      else watch(idleMs - quiet);
    });
  watch(idleMs);
  return {
    touch() {
      last = now();
    },
  };
}
