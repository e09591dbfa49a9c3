/** Timers that end with what they belong to. */
export interface Timers {
  /** Calls `run` once, `ms` from now. Returns the way to cancel. */
  after(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export interface TimerSet extends Timers {
  /** Cancels all; later ones never run. */
  close(): void;
}

export function createTimerSet(timers: Timers): TimerSet {
  const cancels = new Set<() => void>();
  let closed = false;
  return {
    after(ms, run) {
      if (closed) return () => undefined;
      const stop = timers.after(ms, () => {
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
