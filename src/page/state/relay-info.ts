/** What the relay reports about itself, and the browser about its storage. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { PendingCall } from '../../shared/domain/lifecycle.ts';
import type { Health, HomeStanding } from '../../shared/protocol/http.ts';
import type { StorageProblem } from '../../shared/protocol/worker.ts';

export interface RelayInfoState {
  /** null until the relay has answered once. */
  readonly health: Health | null;
  readonly problem: StorageProblem | null;
  /** How this browser relates to the households of the relay. */
  readonly home: 'asking' | 'unreachable' | HomeStanding;
}

/**
 * For a browser without a team: who lives at this relay? `own`: the household of this browser's
 * cookie. The browser lost everything else, or got the cookie from another one. The person is asked
 * before a new household begins.
 */
export const livesThere = ({ home }: Pick<RelayInfoState, 'home'>): 'own' | 'others' | null =>
  typeof home !== 'object' ? null : home.lived ? 'own' : !home.begun && home.others > 0 ? 'others' : null;

/**
 * Does this problem stop all writing? A single failure is retried, and a damaged volume does not
 * stop writing.
 */
export const writingStopped = ({ problem }: RelayInfoState): boolean =>
  problem !== null && problem.kind !== 'broken' && problem.kind !== 'unreadable' && problem.kind !== 'damaged';

export const createRelayInfo = (): StoreApi<RelayInfoState> =>
  createStore<RelayInfoState>()(() => ({ health: null, problem: null, home: 'asking' }));

/** Calls of this page that the relay has not confirmed yet. Their buttons are disabled. */
export interface PendingState {
  readonly call: PendingCall;
  /** The current step in words, or null. */
  readonly step: string | null;
  /** `soon`: the session ends in a moment, unless the person undoes it. */
  readonly ending: false | 'soon' | 'now';
}
export const createPending = (): StoreApi<PendingState> =>
  createStore<PendingState>()(() => ({ call: null, step: null, ending: false }));
