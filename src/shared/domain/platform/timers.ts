/**
 * Time that will come, as an argument: what needs it takes `Timers`, so that a test can hold it
 * still.
 */

/** Calls `run` once, `ms` from now. Returns the way to call it off. */
export type After = (ms: number, run: () => void) => () => void;

/** ms: what a timer of the platform can count to. It ends a longer one at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

export interface Timers {
  readonly after: After;
}

/** The platform's own. */
export const realTimers: Timers = {
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms`. */
export const sleep = (after: After, ms: number): Promise<void> =>
  new Promise((resolve) => void after(ms, () => resolve()));

/** What `work` gives, or null after `ms`: the work itself goes on. Rejects as it does. */
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

/** Timers that end with what they belong to. */
export interface TimerSet extends Timers {
  /** Cancels all; later ones never run. */
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
