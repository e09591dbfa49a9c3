/** Work that many ask for and that is done once for all of them. */

/**
 * Whoever asks while it is under way gets its answer, or its failure; who asks afterwards has it
 * done anew.
 */
export function singleFlight<Value>(run: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | null = null;
  return () =>
    (underWay ??= run().finally(() => {
      underWay = null;
    }));
}

/**
 * As `singleFlight`, and once more where somebody asked meanwhile: what it looks at may have
 * changed since it began. All resolve when none is left to do. A failure is told to all of them,
 * and ends it.
 */
export function runAgain(run: () => Promise<void>): () => Promise<void> {
  let asked = false;
  let underWay: Promise<void> | null = null;
  async function work(): Promise<void> {
    try {
      while (asked) {
        asked = false;
        await run();
      }
    } finally {
      // In the same moment in which nothing was asked any more: nobody's call falls between.
      underWay = null;
    }
  }
  return () => {
    asked = true;
    return (underWay ??= Promise.resolve().then(work));
  };
}

/** A value that is loaded when somebody first asks, and kept. */
export interface Kept<Value> {
  /** What could not be loaded is loaded anew for the next who asks. */
  get(): Promise<Value>;
  /** It has changed: also what is being loaded just now is not kept. */
  forget(): void;
}

/**
 * `isFresh` says whether what was asked for at that time still holds; without it, until it is
 * forgotten.
 */
export function keepLoaded<Value>(
  load: () => Promise<Value>,
  fresh?: { readonly forMs: number; /** ms, only ever forward */ readonly elapsed: () => number },
): Kept<Value> {
  let kept: { readonly at: number; readonly value: Promise<Value> } | null = null;
  return {
    get() {
      const now = fresh?.elapsed() ?? 0;
      if (kept && (!fresh || now - kept.at < fresh.forMs)) return kept.value;
      const asked = { at: now, value: load() };
      kept = asked;
      asked.value.catch(() => {
        if (kept === asked) kept = null;
      });
      return asked.value;
    },
    forget() {
      kept = null;
    },
  };
}
