/** Many small causes, one piece of work: it begins when they have been quiet for a moment, or when the first has waited long. */
import type { After } from './timers.ts';

export interface Burst {
  /** A cause. */
  add(): void;
  /** Something waits. Begins in `ms` at the latest, unless it was to begin sooner. */
  within(ms: number): void;
  /** Nothing waits any more: it is done now, or not at all. */
  clear(): void;
}

export interface BurstDeps {
  readonly after: After;
  /** ms after the last cause */
  readonly quietMs: number;
  /** ms after the first */
  readonly mostMs: number;
  readonly run: () => void;
}

export function createBurst({ after, quietMs, mostMs, run }: BurstDeps): Burst {
  let cancelQuiet: (() => void) | null = null;
  let cancelMost: (() => void) | null = null;
  function clear() {
    cancelQuiet?.();
    cancelMost?.();
    cancelQuiet = null;
    cancelMost = null;
  }
  function begin() {
    clear();
    run();
  }
  return {
    add() {
      cancelQuiet?.();
      cancelQuiet = after(quietMs, begin);
      cancelMost ??= after(mostMs, begin);
    },
    within(ms) {
      cancelMost ??= after(ms, begin);
    },
    clear,
  };
}
