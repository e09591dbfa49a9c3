/** Retries with backoff. */
import type { After } from './timers.ts';

/** ms */
export interface BackoffLimits {
  readonly backoffFirst: number;
  readonly backoffMost: number;
}

/**
 * Delay in ms before retry number `failures` + 1 (from 0), for a single client. It doubles each
 * time.
 */
export const doubling = ({ backoffFirst, backoffMost }: BackoffLimits, failures: number): number =>
  Math.min(backoffMost, backoffFirst * 2 ** Math.min(failures, 16));

/**
 * The same where many clients may have failed together. The delay is random within the upper half,
 * so that they do not retry together. `random` gives 0 to 1.
 */
export function backoff(limits: BackoffLimits, failures: number, random: () => number): number {
  const full = doubling(limits, failures);
  return full / 2 + (full / 2) * random();
}

/**
 * Retries work until it succeeds, because the store may fail (a full disk, an unreachable
 * database).
 */
export interface Trying {
  /** Runs `run` until it resolves. Null once `close` was called. */
  attempt<T>(run: () => Promise<T>): Promise<{ readonly value: T } | null>;
  close(): void;
}

/** `onTrouble` receives each failure, and null when no failed work is waiting any more. */
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
