/** Renews the leases of claims, so that no other relay takes the work of this one for dead. */
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import { ALWAYS_THERE, enduring, type Database } from '../store/index.ts';
import type { Claim, ScheduleRows } from './rows.ts';
import type { ScheduleLimits } from './settings.ts';

export interface LeasesDeps {
  readonly rows: Pick<ScheduleRows, 'renew'>;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'untilThere'>;
  readonly limits: Pick<ScheduleLimits, 'renewMs'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export interface Leases {
  /** Renews this claim until the returned function is called. */
  hold(claim: Claim): () => void;
  /** Tokens of the claims that are held. */
  tokens(): readonly string[];
  /** Stops renewing. */
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
      // Renewed as soon as the database is back from an outage. Other processes wait for that, but
      // no longer.
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
