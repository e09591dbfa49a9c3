/** Timers as an argument, so that a test can control time. */

/** Calls `run` once, after `ms`. Returns the function that cancels it. */
export type After = (ms: number, run: () => void) => () => void;

/** Longest timeout of the platform, in ms. A longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

export interface Timers {
  readonly after: After;
}

/** The platform's timers. */
export const realTimers: Timers = {
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms`. */
export const sleep = (after: After, ms: number): Promise<void> =>
  new Promise((resolve) => void after(ms, () => resolve()));

/**
 * The result of `work`, or null after `ms`. The work itself continues. Rejects if `work` rejects.
 */
export async function within<Value>(after: After, ms: number, work: Promise<Value>): Promise<Value | null> {
  let cancel: () => void = () => undefined;
  const late = new Promise<null>((resolve) => {
    cancel = after(ms, () => resolve(null));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** Timers that are cancelled together with their owner. */
export interface TimerSet extends Timers {
  /** Cancels all timers. Timers set later never run. */
  close(): void;
}

export function createTimerSet({ after }: Timers): TimerSet {
  const cancels = new Set<() => void>();
  let closed = false;
  return {
    after(ms, run) {
      if (closed) return () => undefined;
      const stop = after(ms, () => {
        cancels.delete(cancel);
        run();
      });
      const cancel = () => {
        cancels.delete(cancel);
        stop();
      };
      cancels.add(cancel);
      return cancel;
    },
    close() {
      closed = true;
      for (const cancel of [...cancels]) cancel();
    },
  };
}
