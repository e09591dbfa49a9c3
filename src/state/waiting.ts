/** How much waits for the person beside what was said to them: the tab's title and icon show it together with that. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { onePerPage } from './per-page.ts';

export interface Waiting {
  /** Questions of agents that nobody has answered. */
  readonly approvals: number;
  /** Messages in threads that nobody has looked at. */
  readonly threads: number;
}

export const waitingOf = onePerPage<StoreApi<Waiting>>(() => createStore(() => ({ approvals: 0, threads: 0 })));
