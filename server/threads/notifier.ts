/** Agents that wait for something in their threads, and the bell that has them look again. */
import type { Timers } from '../../src/domain/platform/timers.ts';

interface Listener {
  /** `rung`: something happened since the last time this was asked; look again. The others end the wait. */
  next(): Promise<'rung' | 'late' | 'aborted'>;
  stop(): void;
}

export interface Notifier {
  /** Listens from now on: what happens between a look and `next` is not missed. */
  listen(agentId: string, limits: { readonly limitMs: number; readonly signal: AbortSignal }): Listener;
  notify(agentIds: readonly string[]): void;
}

export function createNotifier(timers: Timers): Notifier {
  const listeners = new Map<string, Set<() => void>>();
  return {
    listen(agentId, { limitMs, signal }) {
      let notified = false;
      let over: 'late' | 'aborted' | null = signal.aborted ? 'aborted' : limitMs <= 0 ? 'late' : null;
      let wake: () => void = () => undefined;
      const onNotice = () => {
        notified = true;
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
      listeners.set(agentId, mine.add(onNotice));
      return {
        async next() {
          if (!notified && over === null) await new Promise<void>((resolve) => (wake = resolve));
          if (over === 'aborted') return over;
          if (notified) {
            notified = false;
            return 'rung';
          }
          return over ?? 'late';
        },
        stop() {
          cancel();
          signal.removeEventListener('abort', onAbort);
          mine.delete(onNotice);
          if (mine.size === 0 && listeners.get(agentId) === mine) listeners.delete(agentId);
        },
      };
    },
    notify(agentIds) {
      for (const agentId of agentIds) for (const onNotice of listeners.get(agentId) ?? []) onNotice();
    },
  };
}
