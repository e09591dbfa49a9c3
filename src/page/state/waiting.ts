/**
 * What waits for the person. Header, tab title and badge show one number, which `useWaitingCount`
 * computes from this.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { onePerPage } from './per-page.ts';

export interface Waiting {
  /** Unanswered questions of agents. */
  readonly approvals: number;
}

export const waitingOf = onePerPage<StoreApi<Waiting>>(() => createStore(() => ({ approvals: 0 })));

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
