/** What waits for the person, as all of the page shows it, and the bar with questions. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { InboxView } from './inbox.ts';
import { onePerPage } from './per-page.ts';

/** The header, the title, the badge and the inbox read this. `ui/inbox/use-inbox.ts` sets it. */
export const waitingOf = onePerPage<StoreApi<InboxView>>(() => createStore(() => ({ waits: [], unread: [] })));

interface AskBar {
  /** Calls that the person has put away. The bar does not show these. */
  readonly seen: ReadonlySet<string>;
  /**
   * Agents whose questions are shown elsewhere on the page with a way to answer; '': all agents.
   */
  readonly elsewhere: ReadonlyMap<string, number>;
}

/** The bar in which the person answers questions, on every page. */
export const askBarOf = onePerPage<StoreApi<AskBar>>(() =>
  createStore(() => ({ seen: new Set<string>(), elsewhere: new Map<string, number>() })),
);

/**
 * The questions of this agent ('': all agents) are shown on the page. Returns a function that
 * reverts this.
 */
export function showsElsewhere(bar: StoreApi<AskBar>, agentId: string): () => void {
  const count = (by: number) =>
    bar.setState(({ elsewhere }) => ({
      elsewhere: new Map(elsewhere).set(agentId, (elsewhere.get(agentId) ?? 0) + by),
    }));
  count(1);
  return () => count(-1);
}
