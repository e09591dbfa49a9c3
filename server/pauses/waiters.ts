/** Those who wait for one agent's flag to be cleared. Each is released exactly once. */
import type { PauseWait } from '../contracts.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';

/** ms: what a timer of the platform can count to; a longer limit is none. */
const LONGEST_TIMER_MS = 2_147_483_647;

export interface Waiters {
  /** Resolves when whoever waits is released, gives up by `signal`, or has waited `limitMs`. */
  wait(options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  release(how: Extract<PauseWait, 'awake' | 'ended'>): void;
  count(): number;
}

export function createWaiters(timers: Timers): Waiters {
  const releases = new Set<(how: PauseWait) => void>();
  return {
    wait({ signal, limitMs }) {
      if (signal.aborted) return Promise.resolve('aborted');
      if (limitMs <= 0) return Promise.resolve('late');
      return new Promise((resolve) => {
        const onAbort = () => release('aborted');
        const cancel = limitMs > LONGEST_TIMER_MS ? () => undefined : timers.after(limitMs, () => release('late'));
        const release = (how: PauseWait) => {
          if (!releases.delete(release)) return;
          cancel();
          signal.removeEventListener('abort', onAbort);
          resolve(how);
        };
        releases.add(release);
        signal.addEventListener('abort', onAbort);
      });
    },
    release(how) {
      for (const release of [...releases]) release(how);
    },
    count: () => releases.size,
  };
}
