/** What failed and is tried again. */
import type { After } from './timers.ts';

/** ms */
export interface BackoffLimits {
  readonly backoffFirst: number;
  readonly backoffMost: number;
}

/**
 * How long to wait, in ms, before try number `failures` + 1 (from 0), where one asks alone: each
 * time twice as long.
 */
export const doubling = ({ backoffFirst, backoffMost }: BackoffLimits, failures: number): number =>
  Math.min(backoffMost, backoffFirst * 2 ** Math.min(failures, 16));

/**
 * The same where many may have failed together: anywhere in the upper half, so that they do not
 * come back together. `random` gives 0 to 1.
 */
export function backoff(limits: BackoffLimits, failures: number, random: () => number): number {
  const full = doubling(limits, failures);
  return full / 2 + (full / 2) * random();
}

/**
 * The store may fail (a full disk, a database that is away): what was begun is tried again until it
 * works.
 */
export interface Trying {
  /** What `run` gives, tried again for as long as it rejects; null once everything is closed. */
  attempt<T>(run: () => Promise<T>): Promise<{ readonly value: T } | null>;
  close(): void;
}

/** `onTrouble` is told each failure, and null when nothing that failed is waiting any more. */
export function createTrying({
  after,
  retryMs,
  onTrouble,
}: {
  readonly after: After;
  readonly retryMs: number;
  readonly onTrouble: (error: unknown) => void;
}): Trying {
  let closed = false;
  let failing = 0;
  const pauses = new Set<() => void>();

  const pause = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        pauses.delete(end);
        callOff();
        resolve();
      };
      const callOff = after(retryMs, end);
      pauses.add(end);
    });

  return {
    async attempt(run) {
      for (let failed = false; !closed; await pause()) {
        try {
          const value = await run();
          if (failed && --failing === 0) onTrouble(null);
          return { value };
        } catch (error) {
          if (!failed) failing += 1;
          failed = true;
          if (!closed) onTrouble(error);
        }
      }
      return null;
    },
    close() {
      closed = true;
      for (const end of [...pauses]) end();
    },
  };
}
