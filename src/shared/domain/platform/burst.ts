/**
 * Many small causes, one piece of work: it begins when they have been quiet for a moment, or when
 * the first has waited long.
 */
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
  /**
   * Would it be in the way now? Asked when it is quiet: it waits for as long again then, up to
   * `mostMs`.
   */
  readonly isBusy?: () => boolean;
  readonly run: () => void;
}

export function createBurst({ after, quietMs, mostMs, isBusy = () => false, run }: BurstDeps): Burst {
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
  function whenQuiet() {
    cancelQuiet = after(quietMs, () => (isBusy() ? whenQuiet() : begin()));
  }
  return {
    add() {
      cancelQuiet?.();
      whenQuiet();
      cancelMost ??= after(mostMs, begin);
    },
    within(ms) {
      cancelMost ??= after(ms, begin);
    },
    clear,
  };
}
