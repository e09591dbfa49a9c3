/** One owner: the Web Lock that whoever opens the ledger holds until it ends. */
import type { After } from '../../domain/platform/timers.ts';
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
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const acquired = new Promise<void>((resolve, reject) => {
    const cancel = after(LEDGER.lockGrace, onWait);
    locks
      .request(LEDGER.lock, async () => {
        cancel();
        held = true;
        resolve();
        await released;
        held = false;
      })
      .catch(reject);
  });
  return { held: () => held, acquired, release };
}

/** Where one worker alone can be the owner: the lock is its own. */
export const ownLock = (): OwnersLock => ({ held: () => true, acquired: Promise.resolve(), release: () => undefined });
