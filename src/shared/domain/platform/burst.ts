/**
 * Coalesces many triggers into one run. The run begins when triggers pause for a moment, or when
 * the first has waited too long.
 */
import type { After } from './timers.ts';

export interface Burst {
  /** Adds a trigger. */
  add(): void;
  /** Something waits. The run begins within `ms`, or earlier if it was already due. */
  within(ms: number): void;
  /** Nothing waits any more: the work is done, or cancelled. */
  clear(): void;
}

export interface BurstDeps {
  readonly after: After;
  /** ms after the last trigger */
  readonly quietMs: number;
  /** ms after the first trigger */
  readonly mostMs: number;
  /**
   * Whether a run would be in the way now. Checked after each pause; if busy, the burst waits
   * another `quietMs`, up to `mostMs`.
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
