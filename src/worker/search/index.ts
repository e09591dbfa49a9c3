/**
 * Full-text search over all messages, threads, souls, changes and schedules.
 *
 * `search.ts` answers a query, `builder.ts` keeps the index up to date, `segment.ts` is the format
 * on disk, `words.ts` cuts text into terms, and `query.ts` finds documents for terms.
 *
 * Main type: `Search`.
 *
 * Invariants:
 * - Everything in the index can be rebuilt. A damaged index is deleted and rebuilt.
 * - A forgotten document is never found, even while the index still lists it. The views decide.
 * - There is one index for all tabs. It has a database of its own.
 *
 * It does not know Fireproof, the relay, or the page.
 */
import type { MaybeStorage } from '../../shared/domain/platform/old-browsers.ts';
import { createSearch, type Search, type SearchDeps } from './search.ts';
import { deleteIndex, openIndexStore } from './store.ts';

export type { Search } from './search.ts';

/** `storage`: storage facts of the place where the databases are. */
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
