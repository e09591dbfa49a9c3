/**
 * Unsent messages survive the page. They are in the browser's storage until they have arrived, are
 * stored in the ledger, or are withdrawn. They keep their client id, so sending one twice is
 * harmless, even from two tabs.
 */
import type { StoreApi } from 'zustand/vanilla';
import type { RoostState } from './index.ts';
import type { TextStorage } from './ports.ts';
import type { Sending } from './conversations.ts';

/** Prefix of the keys in the browser's storage. */
export const UNSENT = 'roost-unsent:';
export const IN_THREAD = 'roost-unsent-in:';
export const unsentIn = (threadId: string): string => `${IN_THREAD}${threadId}:`;
export const DRAFT_FILES = 'roost-draft-files:';
/** Entries with these prefixes may reference files on the shelf. */
export const NAMES_FILES = [UNSENT, DRAFT_FILES];

/** The bytes are on the shelf, or in the ledger. */
export const withoutData = (key: string, value: unknown): unknown => (key === 'data' ? undefined : value);

/** Writes down messages being sent under `prefix`, for as long as they are. */
export function storeUnsent(
  browser: TextStorage,
  prefix: string,
  store: Pick<StoreApi<{ readonly sending: readonly Sending[] }>, 'getState' | 'subscribe'>,
): void {
  let kept = store.getState().sending;
  store.subscribe(({ sending }) => {
    if (sending === kept) return;
    for (const { clientId } of kept)
      if (!sending.some((item) => item.clientId === clientId)) browser.write(prefix + clientId, '');
    for (const item of sending)
      if (!kept.includes(item)) browser.write(prefix + item.clientId, JSON.stringify(item, withoutData));
    kept = sending;
  });
}

/** Sends what an earlier page has not sent, and writes down what this one sends. */
export function followUnsent(roost: RoostState): void {
  const { browser } = roost.device;
  if (browser.keys('roost-unsent').length > 0) void import('./take-up.ts').then(({ takeUp }) => takeUp(roost));
  storeUnsent(browser, UNSENT, roost.conversations.store);
}
