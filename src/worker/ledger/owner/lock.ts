/** One owner: the Web Lock that whoever opens the ledger holds until it ends. */
import { createDeferred } from '../../../shared/domain/platform/deferred.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import { LEDGER } from '../settings.ts';

export interface OwnersLock {
  /** Do we hold it? */
  held(): boolean;
  /** Resolves when we hold it. */
  acquired: Promise<void>;
  release(): void;
}

export interface LockDeps {
  readonly locks: LockManager;
  readonly after: After;
  /** Another owner has it for longer than a moment. */
  readonly onWait: () => void;
}

export function takeOwnersLock({ locks, after, onWait }: LockDeps): OwnersLock {
  let held = false;
  const released = createDeferred();
  const acquired = createDeferred();
  const cancel = after(LEDGER.lockGrace, onWait);
  locks
    .request(LEDGER.lock, async () => {
      cancel();
      held = true;
      acquired.resolve();
      await released.promise;
      held = false;
    })
    .catch(acquired.reject);
  return { held: () => held, acquired: acquired.promise, release: released.resolve };
}
