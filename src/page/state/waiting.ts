/**
 * What waits for the person. Header, tab title and badge show one number, which `useWaitingCount`
 * makes of this and of what is new.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { onePerPage } from './per-page.ts';

export interface Waiting {
  /** Questions of agents that nobody has answered. */
  readonly approvals: number;
  /** Messages in threads that nobody has looked at. */
  readonly threads: number;
}

export const waitingOf = onePerPage<StoreApi<Waiting>>(() => createStore(() => ({ approvals: 0, threads: 0 })));

export interface Tray {
  /**
   * `asked`: the person has opened it; `put-away`: closed, until something new is asked;
   * `by-itself`: it opens for what is new.
   */
  readonly open: 'asked' | 'by-itself' | 'put-away';
  /** Calls that were there when it was put away: it does not open for these. */
  readonly seen: ReadonlySet<string>;
  /** Whose questions stand elsewhere on the page, with ways to answer them; '': everybody's. */
  readonly elsewhere: ReadonlyMap<string, number>;
}

const createTray = () =>
  createStore<Tray>(() => ({ open: 'by-itself', seen: new Set<string>(), elsewhere: new Map<string, number>() }));
/** Where what needs the person is answered, from every page. */
export const trayOf = onePerPage<StoreApi<Tray>>(createTray);

/**
 * The questions of this agent ('': of everybody) stand on the page. Returns the way to say that
 * they do no more.
 */
export function showsElsewhere(tray: StoreApi<Tray>, agentId: string): () => void {
  const count = (by: number) =>
    tray.setState(({ elsewhere }) => ({
      elsewhere: new Map(elsewhere).set(agentId, (elsewhere.get(agentId) ?? 0) + by),
    }));
  count(1);
  return () => count(-1);
}
