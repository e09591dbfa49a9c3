/** What the relay says of itself, and what the browser says of its storage. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { PendingCall } from '../../shared/domain/lifecycle.ts';
import type { Health, HomeStanding } from '../../shared/protocol/http.ts';
import type { StorageProblem } from '../../shared/protocol/worker.ts';

export interface RelayInfoState {
  /** null until the relay has answered once. */
  readonly health: Health | null;
  readonly problem: StorageProblem | null;
  /** How this browser stands to the households of the relay. */
  readonly home: 'asking' | 'unreachable' | HomeStanding;
}

/**
 * For a browser that keeps nobody: who lives at this relay? `own`: those for whom this browser was
 * let in, as it kept its cookie and lost the rest, or has it from another. Then the person is asked
 * before anything begins.
 */
export const livesThere = ({ home }: Pick<RelayInfoState, 'home'>): 'own' | 'others' | null =>
  typeof home !== 'object' ? null : home.lived ? 'own' : !home.begun && home.others > 0 ? 'others' : null;

/**
 * Does this problem keep anything from being stored? What failed once is tried again, and beside a
 * damaged volume writing goes on.
 */
export const writingStopped = ({ problem }: RelayInfoState): boolean =>
  problem !== null && problem.kind !== 'broken' && problem.kind !== 'unreadable' && problem.kind !== 'damaged';

export const createRelayInfo = (): StoreApi<RelayInfoState> =>
  createStore<RelayInfoState>()(() => ({ health: null, problem: null, home: 'asking' }));

/** Calls of this page that the relay has not confirmed yet. They hold their buttons down. */
export interface PendingState {
  readonly call: PendingCall;
  /** What is being done first, in words, or null. */
  readonly step: string | null;
  /** `soon`: the session ends in a moment, unless the person takes that back. */
  readonly ending: false | 'soon' | 'now';
}
export const createPending = (): StoreApi<PendingState> =>
  createStore<PendingState>()(() => ({ call: null, step: null, ending: false }));
