/**
 * Turns of agents. An agent does one thing at a time, in a session or outside it. Waiters are
 * served in order.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';

export interface Turns {
  /**
   * Resolves with a function that ends the turn, once the current holder has ended its turn; null:
   * `signal` aborted, or `limitMs` passed, first.
   */
  take(
    agentId: AgentId,
    options: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<(() => void) | null>;
}

interface Waiter {
  go(): void;
}

export function createTurns(timers: { after(ms: number, run: () => void): () => void }): Turns {
  /** Waiters in order, by agent. An agent has an entry while its turn is taken. */
  const busy = new Map<string, Waiter[]>();

  function begun(agentId: AgentId): () => void {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const next = busy.get(agentId)?.shift();
      if (next) next.go();
      else busy.delete(agentId);
    };
  }

  return {
    take(agentId, { signal, limitMs }) {
      if (signal.aborted) return Promise.resolve(null);
      const waiting = busy.get(agentId);
      if (!waiting) {
        busy.set(agentId, []);
        return Promise.resolve(begun(agentId));
      }
      return new Promise((resolve) => {
        let cancel: () => void = () => undefined;
        const leave = () => {
          cancel();
          signal.removeEventListener('abort', giveUp);
        };
        const waiter: Waiter = {
          go() {
            leave();
            resolve(begun(agentId));
          },
        };
        const giveUp = () => {
          leave();
          waiting.splice(waiting.indexOf(waiter), 1);
          resolve(null);
        };
        waiting.push(waiter);
        signal.addEventListener('abort', giveUp);
        if (limitMs !== Infinity) cancel = timers.after(limitMs, giveUp);
      });
    },
  };
}
