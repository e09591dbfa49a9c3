/** A tab with nothing but a line to the owner, for tests to drive. */
import { askPersistence, openOwner, type OwnerClient } from '../../../src/ledger/index.ts';
import type { OwnerNews } from '../../../src/protocol/worker.ts';

export interface LedgerPage {
  readonly owner: OwnerClient;
  /** Everything the owner has said so far. */
  readonly news: OwnerNews[];
  readonly askPersistence: typeof askPersistence;
}

declare global {
  interface Window {
    roost: LedgerPage;
  }
}

if (new URLSearchParams(location.search).has('without-shared-worker')) Reflect.deleteProperty(globalThis, 'SharedWorker');
const owner = openOwner();
const news: OwnerNews[] = [];
owner.subscribe((item) => news.push(item));
window.roost = { owner, news, askPersistence };
