/**
 * What other devices dated ahead of this one's clock waits, until its time or until the person
 * takes it.
 */
import { MAX_AHEAD_MS, MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import { writeMeta, type SyncDatabase } from './database.ts';
import type { Keys } from './keys.ts';

export interface Ahead {
  /** Is what is dated then, in ms since the epoch, to wait? */
  isAhead(time: number): boolean;
  /**
   * What is dated up to then, in ms since the epoch, need not wait any more, but for what no clock
   * can be.
   */
  takeUpTo(time: number): Promise<void>;
}

export function createAhead({
  db,
  keys,
  now,
  ...given
}: {
  readonly db: SyncDatabase;
  readonly keys: Pick<Keys, 'membership'>;
  readonly now: () => number;
  /**
   * What is dated up to here, in ms since the epoch, the person has taken, or was written on this
   * device.
   */
  readonly taken: number;
}): Ahead {
  let { taken } = given;
  return {
    // A household of one device hears only what it wrote itself, as it comes back.
    isAhead: (time) => !keys.membership().alone && time > Math.max(now(), taken) + MAX_AHEAD_MS,
    async takeUpTo(time) {
      const most = Math.min(time, now() + MOST_AHEAD_MS);
      if (most <= Math.max(now() + MAX_AHEAD_MS, taken)) return;
      taken = most;
      await writeMeta(db, { aheadTaken: taken });
    },
  };
}
