/**
 * How tabs and worker notice each other's end. A SharedWorker's port does not report that its other
 * end is gone, and a channel has no ends at all. Web Locks solve both: each tab holds a lock of its
 * own for as long as it lives, and the worker holds the ledger's.
 */
import { createDeferred } from '../../shared/domain/platform/deferred.ts';
import { realTimers, sleep } from '../../shared/domain/platform/timers.ts';
import { LEDGER, WORKER_CONNECTION } from './settings.ts';

const tabLock = (tab: string) => `roost-tab-${tab}`;

/** A tab's first message on every connection: its name. */
export interface Hello {
  readonly from: string;
  readonly hello: true;
}
/** A tab's message on the channel: hello, or a call. */
export type FromTab = Hello | { readonly from: string; readonly message: unknown };

/**
 * The worker's message on the channel. Either it has just begun, and every tab says hello again, or
 * it has a message for one tab.
 */
export type ToTab = { readonly owner: true } | { readonly to: string; readonly message: unknown };

/**
 * Collects messages of the same task into one list, because each `postMessage` has a fixed cost.
 * The other end handles the members in order.
 */
export function inOneGo<Message>(post: (messages: readonly Message[]) => void): (message: Message) => void {
  let waiting: Message[] = [];
  return (message) => {
    if (waiting.push(message) > 1) return;
    queueMicrotask(() => {
      const messages = waiting;
      waiting = [];
      post(messages);
    });
  };
}

/** The members of a list, or the single message. */
export const membersOf = (data: unknown): readonly unknown[] => (Array.isArray(data) ? data : [data]);

/**
 * Holds this tab's lock. `onHeld` says hello, which must not happen before. Returns the function
 * that releases the lock.
 */
export function liveAsTab(locks: LockManager, tab: string, onHeld: () => void): () => void {
  const released = createDeferred();
  let over = false;
  void locks.request(tabLock(tab), () => {
    if (over) return undefined;
    onHeld();
    return released.promise;
  });
  return () => {
    over = true;
    released.resolve();
  };
}

/** Resolves when the tab that said hello is gone. */
export async function tabGone(locks: LockManager, tab: string): Promise<void> {
  await locks.request(tabLock(tab), () => undefined);
}

/** Resolves when the current worker, or the first one to come, has ended. Rejects when aborted. */
export async function ownerGone(locks: LockManager, signal: AbortSignal): Promise<void> {
  const isOwned = async () => (await locks.query()).held?.some(({ name }) => name === LEDGER.lock) === true;
  while (!(await isOwned())) {
    signal.throwIfAborted();
    await sleep(realTimers.after, WORKER_CONNECTION.workerPoll);
  }
  // Shared mode: all tabs get the lock at once and release it for the next worker.
  await locks.request(LEDGER.lock, { mode: 'shared', signal }, () => undefined);
}
