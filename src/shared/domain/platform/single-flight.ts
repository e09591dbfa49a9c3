/** Shares one run of a task among many callers. */

/** Callers during a run get its result or its failure. The next caller starts a new run. */
export function singleFlight<Value>(run: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | null = null;
  return () =>
    (underWay ??= run().finally(() => {
      underWay = null;
    }));
}

/**
 * Like `singleFlight`, but runs once more if a caller arrived during the run, since its input may
 * have changed. All callers resolve when no run is left. A failure rejects all of them and stops.
 */
export function runAgain(run: () => Promise<void>): () => Promise<void> {
  let isAskedAgain = false;
  let underWay: Promise<void> | null = null;
  async function work(): Promise<void> {
    try {
      while (isAskedAgain) {
        isAskedAgain = false;
        await run();
      }
    } finally {
      // Synchronous with the last check of `isAskedAgain`, so that no call falls in between.
      underWay = null;
    }
  }
  return () => {
    isAskedAgain = true;
    return (underWay ??= Promise.resolve().then(work));
  };
}

/** A value that is loaded on first use and cached. */
export interface Kept<Value> {
  /** A failed load is not cached: the next call loads again. */
  get(): Promise<Value>;
  /** Invalidates the value, including one that is being loaded. */
  forget(): void;
}

/** `fresh` limits how long a value is cached. Without it, a value is cached until `forget`. */
export function keepLoaded<Value>(
  load: () => Promise<Value>,
  fresh?: { readonly forMs: number; /** ms, monotonic */ readonly elapsed: () => number },
): Kept<Value> {
  let kept: { readonly at: number; readonly value: Promise<Value> } | null = null;
  return {
    get() {
      const now = fresh?.elapsed() ?? 0;
      if (kept && (!fresh || now - kept.at < fresh.forMs)) return kept.value;
      const entry = { at: now, value: load() };
      kept = entry;
      entry.value.catch(() => {
        if (kept === entry) kept = null;
      });
      return entry.value;
    },
    forget() {
      kept = null;
    },
  };
}
