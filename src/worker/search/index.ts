/** The search over all that was ever said, for the worker that has the ledger. */
import type { MaybeStorage } from '../../shared/domain/platform/old-browsers.ts';
import { createSearch, type Search, type SearchDeps } from './search.ts';
import { deleteIndex, openIndexStore } from './store.ts';

export type { Search } from './search.ts';

/** `storage`: of where the databases lie. */
export const openSearch = ({
  storage,
  ...deps
}: Pick<SearchDeps, 'ledger' | 'after' | 'isTalking'> & { readonly storage: () => MaybeStorage }): Search =>
  createSearch({
    ...deps,
    openStore: openIndexStore,
    dropStore: deleteIndex,
    async room() {
      const { quota, usage } = (await storage()?.estimate?.()) ?? {};
      return quota === undefined ? null : quota - (usage ?? 0);
    },
    now: Date.now,
    elapsed: () => performance.now(),
  });
