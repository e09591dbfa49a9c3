/**
 * What was sent and has not arrived outlives the page: it stands in the browser's texts until it is
 * there, kept, or taken back. Its client id goes along, so that sending it once more is harmless,
 * also from two tabs.
 */
import type { StoreApi } from 'zustand/vanilla';
import type { RoostState } from './index.ts';
import type { TextStorage } from './ports.ts';
import type { Sending } from './conversations.ts';

/** What the names begin with, in the browser's texts. */
export const UNSENT = 'roost-unsent:';
export const IN_THREAD = 'roost-unsent-in:';
export const unsentIn = (threadId: string): string => `${IN_THREAD}${threadId}:`;
export const DRAFT_FILES = 'roost-draft-files:';
/** What stands there under such names may name files on the shelf. */
export const NAMES_FILES = [UNSENT, DRAFT_FILES];

/** Bytes lie on the shelf, or in the ledger. */
export const withoutData = (key: string, value: unknown): unknown => (key === 'data' ? undefined : value);

/** Writes down what is being sent from now on, under `prefix`, for as long as it is. */
export function keepUnsent(
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

/** Takes up what an earlier page has not sent, and writes down what this one sends. */
export function followUnsent(roost: RoostState): void {
  const { browser } = roost.device;
  if (browser.keys('roost-unsent').length > 0) void import('./take-up.ts').then(({ takeUp }) => takeUp(roost));
  keepUnsent(browser, UNSENT, roost.conversations.store);
}
