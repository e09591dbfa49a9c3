/**
 * How tabs and owner know of each other. A port of a SharedWorker tells nobody when its other end
 * is gone, and a channel has no ends at all; Web Locks do both: each tab holds a lock of its own
 * for as long as it lives, and the owner holds the ledger's.
 */
import { createDeferred } from '../../shared/domain/platform/deferred.ts';
import { realTimers, sleep } from '../../shared/domain/platform/timers.ts';
import { LEDGER, OWNER_CONNECTION } from './settings.ts';

const tabLock = (tab: string) => `roost-tab-${tab}`;

/** From a tab, first on every line: who it is. */
export interface Hello {
  readonly from: string;
  readonly hello: true;
}
/** On the channel, from a tab: hello, or a call. */
export type FromTab = Hello | { readonly from: string; readonly message: unknown };

/**
 * On the channel, from the owner: that it has just begun (every tab says hello again), or something
 * for one tab.
 */
export type ToTab = { readonly owner: true } | { readonly to: string; readonly message: unknown };

/**
 * Sends what is said in one go as one message: a message between threads costs as much as what it
 * carries. The other end takes a list and takes its members one after the other.
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

/** The members of a list, or the one message that is none. */
export const membersOf = (data: unknown): readonly unknown[] => (Array.isArray(data) ? data : [data]);

/**
 * Holds this tab's lock; `onHeld` says hello, which must not be before. Returns the way to let go.
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

/**
 * Resolves when the owner that there is now, or that comes first, has ended. Rejects when aborted.
 */
export async function ownerGone(locks: LockManager, signal: AbortSignal): Promise<void> {
  const isOwned = async () => (await locks.query()).held?.some(({ name }) => name === LEDGER.lock) === true;
  while (!(await isOwned())) {
    signal.throwIfAborted();
    await sleep(realTimers.after, OWNER_CONNECTION.lookForOwner);
  }
  // Shared, so that all tabs get it at once, and let the next owner have it.
  await locks.request(LEDGER.lock, { mode: 'shared', signal }, () => undefined);
}
