/**
 * What waits for the person. Header, tab title and badge show one number, which `useWaitingCount`
 * computes from this and the unread messages.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { onePerPage } from './per-page.ts';

export interface Waiting {
  /** Unanswered questions of agents. */
  readonly approvals: number;
  /** Unread messages in threads. */
  readonly threads: number;
}

export const waitingOf = onePerPage<StoreApi<Waiting>>(() => createStore(() => ({ approvals: 0, threads: 0 })));

export interface Tray {
  /**
   * `asked`: the person opened it. `put-away`: closed until a new question arrives. `by-itself`:
   * opens for new questions.
   */
  readonly open: 'asked' | 'by-itself' | 'put-away';
  /** Calls that were there when it was closed. It does not open for these. */
  readonly seen: ReadonlySet<string>;
  /**
   * Agents whose questions are shown elsewhere on the page with a way to answer; '': all agents.
   */
  readonly elsewhere: ReadonlyMap<string, number>;
}

const createTray = () =>
  createStore<Tray>(() => ({ open: 'by-itself', seen: new Set<string>(), elsewhere: new Map<string, number>() }));
/** The tray in which the person answers questions, on every page. */
export const trayOf = onePerPage<StoreApi<Tray>>(createTray);

/**
 * The questions of this agent ('': all agents) are shown on the page. Returns a function that
 * reverts this.
 */
export function showsElsewhere(tray: StoreApi<Tray>, agentId: string): () => void {
  const count = (by: number) =>
    tray.setState(({ elsewhere }) => ({
      elsewhere: new Map(elsewhere).set(agentId, (elsewhere.get(agentId) ?? 0) + by),
    }));
  count(1);
  return () => count(-1);
}
