/**
 * Signs of life for claims: as long as somebody is at work on one, no other relay believes this one
 * dead.
 */
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import { ALWAYS_THERE, enduring, type Database } from '../store/index.ts';
import type { Claim, ScheduleRows } from './rows.ts';
import type { ScheduleLimits } from './settings.ts';

export interface LeasesDeps {
  readonly rows: Pick<ScheduleRows, 'renew'>;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'untilThere'>;
  readonly limits: Pick<ScheduleLimits, 'renewMs'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export interface Leases {
  /** Keeps a claim alive. Returns the way to let go of it. */
  hold(claim: Claim): () => void;
  /** Of those that are held. */
  tokens(): readonly string[];
  /** None is renewed after it. */
  close(): void;
}

export function createLeases({ rows, database = ALWAYS_THERE, limits, timers, now, onError }: LeasesDeps): Leases {
  const held = new Set<Claim>();
  let closed = false;
  let cancel: (() => void) | null = null;

  function renewLater(): void {
    if (held.size === 0 || closed) return;
    cancel ??= timers.after(limits.renewMs, () => {
      cancel = null;
      // At once when a database is back that was away: others wait for that, and no longer.
      enduring(database, () => rows.renew([...held], now()))
        .catch(onError)
        .finally(renewLater);
    });
  }

  return {
    hold(claim) {
      held.add(claim);
      renewLater();
      return () => void held.delete(claim);
    },
    tokens: () => [...held].map(({ token }) => token),
    close() {
      closed = true;
      cancel?.();
    },
  };
}
