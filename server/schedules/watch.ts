/**
 * Watches whether the clocks go by which things are due: one that stands is the one thing that it
 * cannot say itself.
 */
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import type { OpenHealth } from '../../src/shared/protocol/http.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

/**
 * One home's clock, as it is watched. `seenAt`: when it looked last; null: it has not begun.
 * `stoodMs`: at its start; null: it had not. `copied`: its home is a copy, and what is due is not
 * due here.
 */
export interface WatchedClock {
  readonly id: string;
  seenAt(): number | null;
  copied(): boolean;
  readonly stoodMs: number | null;
}

export interface ClockWatch {
  /** Of all homes, for anybody: it names none. */
  state(): OpenHealth['clock'];
  close(): void;
}

export interface ClockWatchDeps {
  readonly clocks: () => readonly WatchedClock[];
  /** ms, only ever forward: a wall clock that is set anew stops nothing. */
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** A sentence, when one begins to stand, and when all go again. */
  readonly say: (line: string) => void;
  readonly limits?: Pick<ScheduleLimits, 'stillMs' | 'watchMs'>;
}

export function createClockWatch({
  clocks,
  elapsed,
  timers,
  say,
  limits = SCHEDULE_LIMITS,
}: ClockWatchDeps): ClockWatch {
  /** By home: its last look that was noticed, and when that was. */
  const noticed = new Map<string, { readonly seenAt: number | null; readonly at: number }>();
  let told = false;
  let cancel: () => void = () => undefined;

  function standsStill(): number | null {
    const all = clocks();
    for (const { id, seenAt } of all) {
      const seen = seenAt();
      const before = noticed.get(id);
      if (!before || before.seenAt !== seen) noticed.set(id, { seenAt: seen, at: elapsed() });
    }
    const longest = Math.max(0, ...all.map(({ id }) => elapsed() - (noticed.get(id)?.at ?? elapsed())));
    return longest > limits.stillMs ? Math.round(longest) : null;
  }
  function watch(): void {
    const still = standsStill();
    if (still !== null && !told)
      say(
        'The clock stands still: nothing that is due is begun, and none of it is lost. The log says why; it is tried again every minute.',
      );
    if (still === null && told) say('The clock goes again.');
    told = still !== null;
    cancel = timers.after(limits.watchMs, watch);
  }
  watch();

  return {
    state() {
      const stood = clocks().flatMap(({ stoodMs }) => stoodMs ?? []);
      return {
        standsStillMs: standsStill(),
        stoodMs: stood.length === 0 ? null : Math.max(...stood),
        copied: clocks().some((clock) => clock.copied()),
      };
    },
    close: () => cancel(),
  };
}
