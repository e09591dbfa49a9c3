/**
 * Requests under way, with the most that each may cost, and whoever waits for one of them to end.
 */
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';

interface Held {
  readonly agentId: AgentId;
  readonly credentialId: string | undefined;
  readonly microUsd: number;
}

export interface Holds {
  /** Money held for one agent, and for all; millionths of a dollar. */
  of(agentId: AgentId | null): number;
  /** Requests under way that fit. */
  count(fits: (held: Held) => boolean): number;
  /** Gives it back; a repeat changes nothing. */
  take(held: Held): () => void;
  /** How many were released so far. */
  released(): number;
  /**
   * Resolves when some hold is released, or after `ms`. Rejects with the signal's reason once that
   * aborts.
   */
  nextRelease(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createHolds(): Holds {
  const held = new Set<Held>();
  const releases = createListeners();
  let released = 0;

  return {
    of(agentId) {
      let sum = 0;
      for (const hold of held) if (agentId === null || hold.agentId === agentId) sum += hold.microUsd;
      return sum;
    },
    count(fits) {
      let count = 0;
      for (const hold of held) if (fits(hold)) count += 1;
      return count;
    },
    take(one) {
      const hold = { ...one };
      held.add(hold);
      return () => {
        if (!held.delete(hold)) return;
        released += 1;
        releases.tell();
      };
    },
    released: () => released,
    nextRelease(ms, signal) {
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', stop);
          unsubscribe();
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
        const unsubscribe = releases.subscribe(done);
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
      });
    },
  };
}
