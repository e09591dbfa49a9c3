/**
 * The time as the database has it, carried on by this process's monotonic clock. Several relays on
 * one database have one clock by this, whatever becomes of the wall clocks of their machines:
 * leases, schedules, budgets and cooldowns go by it.
 *
 * It is set anew at times, and as soon as the wall clock has gone another way than the monotonic
 * one: it was set, or the machine was suspended, which a monotonic clock may not see.
 */
import { singleFlight } from '../../src/shared/domain/platform/single-flight.ts';
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import type { DatabaseLimits } from './settings.ts';

export interface DatabaseClockDeps {
  /** ms since the epoch, as the database has it. */
  readonly read: () => Promise<number>;
  /** ms since the epoch, as this machine has it. */
  readonly wall: () => number;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  readonly timers: Timers;
  readonly limits: Pick<DatabaseLimits, 'clockEveryMs' | 'clockDriftMs' | 'clockStepMs'>;
  /** The time has changed by much at once. */
  readonly onStep: () => void;
}

export interface DatabaseClock {
  now(): number;
  close(): void;
}

/** Rejects where the database does not say what time it is. */
export async function openDatabaseClock(deps: DatabaseClockDeps): Promise<DatabaseClock> {
  const { read, wall, elapsed, timers, limits, onStep } = deps;
  let closed = false;
  let cancel: () => void = () => undefined;

  async function anchorNow() {
    const asked = elapsed();
    const time = await read();
    // The answer was on its way for about half of the time.
    return { time, at: (asked + elapsed()) / 2, wall: wall() - elapsed() };
  }
  let anchor = await anchorNow();
  const timeNow = () => Math.round(anchor.time + elapsed() - anchor.at);

  const set = singleFlight(async () => {
    const next = await anchorNow();
    const before = anchor.time + next.at - anchor.at;
    anchor = next;
    if (Math.abs(next.time - before) > limits.clockStepMs) onStep();
  });
  /** A database that is away leaves the clock as it is. */
  const setSoon = () => void set().catch(() => undefined);
  function setLater(): void {
    cancel = timers.after(limits.clockEveryMs, () => {
      setSoon();
      if (!closed) setLater();
    });
  }
  setLater();

  return {
    now() {
      const drift = wall() - elapsed() - anchor.wall;
      if (!closed && Math.abs(drift) > limits.clockDriftMs) {
        // Once for each time that it goes another way.
        anchor = { ...anchor, wall: anchor.wall + drift };
        setSoon();
      }
      return timeNow();
    },
    close() {
      closed = true;
      cancel();
    },
  };
}
