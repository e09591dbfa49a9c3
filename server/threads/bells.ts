/** Agents that wait for something in their threads, and the bell that has them look again. */
import type { Timers } from '../../src/domain/platform/timers.ts';

export interface Listening {
  /** `rung`: something happened since the last time this was asked; look again. The others end the wait. */
  next(): Promise<'rung' | 'late' | 'aborted'>;
  stop(): void;
}

export interface Bells {
  /** Listens from now on: what happens between a look and `next` is not missed. */
  listen(agentId: string, limits: { readonly limitMs: number; readonly signal: AbortSignal }): Listening;
  ring(agentIds: readonly string[]): void;
}

export function createBells(timers: Timers): Bells {
  const listeners = new Map<string, Set<() => void>>();
  return {
    listen(agentId, { limitMs, signal }) {
      let rung = false;
      let over: 'late' | 'aborted' | null = signal.aborted ? 'aborted' : limitMs <= 0 ? 'late' : null;
      let wake: () => void = () => undefined;
      const onRing = () => {
        rung = true;
        wake();
      };
      const end = (how: 'late' | 'aborted') => {
        over ??= how;
        wake();
      };
      const onAbort = () => end('aborted');
      const cancel = over === null ? timers.after(limitMs, () => end('late')) : () => undefined;
      signal.addEventListener('abort', onAbort);
      const mine = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, mine.add(onRing));
      return {
        async next() {
          if (!rung && over === null) await new Promise<void>((resolve) => (wake = resolve));
          if (over === 'aborted') return over;
          if (rung) {
            rung = false;
            return 'rung';
          }
          return over ?? 'late';
        },
        stop() {
          cancel();
          signal.removeEventListener('abort', onAbort);
          mine.delete(onRing);
          if (mine.size === 0 && listeners.get(agentId) === mine) listeners.delete(agentId);
        },
      };
    },
    ring(agentIds) {
      for (const agentId of agentIds) for (const onRing of listeners.get(agentId) ?? []) onRing();
    },
  };
}
