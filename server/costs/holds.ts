/** Requests under way, with what each is expected to cost, and whoever waits for one of them to end. */
import type { CostHold } from '../contracts.ts';

export interface Holds {
  /** Money held for one agent, and for all; millionths of a dollar. */
  of(agentId: string | null): number;
  take(agentId: string, microUsd: number): CostHold;
  /** How many were released so far. */
  released(): number;
  /** Resolves when some hold is released, or after `ms`. Rejects with the signal's reason once that aborts. */
  nextRelease(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createHolds(): Holds {
  const held = new Set<{ readonly agentId: string; readonly microUsd: number }>();
  const waiters = new Set<() => void>();
  let released = 0;

  return {
    of(agentId) {
      let sum = 0;
      for (const hold of held) if (agentId === null || hold.agentId === agentId) sum += hold.microUsd;
      return sum;
    },
    take(agentId, microUsd) {
      const hold = { agentId, microUsd };
      held.add(hold);
      return {
        release() {
          if (!held.delete(hold)) return;
          released += 1;
          for (const tell of [...waiters]) tell();
        },
      };
    },
    released: () => released,
    nextRelease(ms, signal) {
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', stop);
          waiters.delete(done);
        };
        const done = () => {
          end();
          resolve();
        };
        const stop = () => {
          end();
          reject(signal?.reason instanceof Error ? signal.reason : new Error('nobody waits for this any more'));
        };
        const timer = setTimeout(done, ms);
        waiters.add(done);
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
      });
    },
  };
}
