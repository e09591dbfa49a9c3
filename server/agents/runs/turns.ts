/**
 * Whose turn it is: an agent does one thing at a time, in a session or out of it. Who comes first
 * is first.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';

export interface Turns {
  /**
   * Resolves with the way to end the turn, once whoever has it has ended theirs; null where
   * `signal` aborts, or `limitMs` is over, before that.
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
  /** By agent: those who wait, in order; an agent is here while somebody has its turn. */
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
