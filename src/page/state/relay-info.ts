/** What the relay reports about itself, and the browser about its storage. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ListedModel, Models } from '../../shared/protocol/models.ts';
import type { DeferredClient } from '../../shared/relay-client/deferred-client.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { createQueue } from '../../shared/domain/platform/queue.ts';
import type { AgentConfig, EffectiveConfig, HouseholdConfig } from '../../shared/protocol/config.ts';
import type { PendingCall } from '../../shared/domain/lifecycle.ts';
import type { Health, HomeStatus } from '../../shared/protocol/http.ts';
import type { StorageProblem } from '../../shared/protocol/worker.ts';
import { problemText } from './ports.ts';
import { type Query, type QueryDeps, relayQuery } from './query.ts';
import type { CallRelay } from './call-relay.ts';
import { overNewest } from './documents.ts';

// The connected models, and the calls that change them.

type ModelCalls = Pick<
  DeferredClient,
  'connectModel' | 'changeModelKey' | 'tryModel' | 'removeModel' | 'findServers' | 'listModels'
>;
/** `models`: the server offers several, and one must be chosen first. */
type Done<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string; readonly models: readonly ListedModel[] };

export interface ConnectedModels {
  readonly query: Query<Models>;
  /** Makes one of these calls and then shows the new state. */
  change<Value>(call: (calls: ModelCalls) => Promise<RelayResult<Value>>): Promise<Done<Value>>;
}

export function createConnectedModels(
  deps: Pick<QueryDeps<Models>, 'changes' | 'device'> & {
    readonly callRelay: CallRelay;
    /** The answering model may have changed. */
    readonly onChange: () => Promise<unknown>;
  },
): ConnectedModels {
  const { callRelay, changes, device } = deps;
  const query = relayQuery({ callRelay, changes, device }, ['models'], (client) => client.models());
  // Another page or a failed answer may have changed it.
  changes.subscribe(({ what }) => void (what === 'models' && deps.onChange()));
  return {
    query,
    async change(call) {
      const result = await callRelay(call);
      await Promise.all([query.again(), deps.onChange()]);
      if (result.ok) return result;
      const { problem } = result;
      const models = problem.kind === 'refused' ? (problem.problem.models ?? []) : [];
      return { ok: false, reason: problemText(problem), models };
    },
  };
}

// Changes what agents may do. Changes run one after the other, each on top of the relay's newest
// version, and take effect at once.

/** What a household and an agent have in common: only explicitly set values. */
export type Coordination = AgentConfig['coordination'];
export type Guardrails = NonNullable<Coordination['wake_guardrails']>;
export type EffectiveCoordination = EffectiveConfig['coordination'];

/** Undefined removes the own value, so that the inherited one holds. */
export const withCoordination = <K extends keyof Coordination>(
  own: Coordination,
  key: K,
  value: Coordination[K],
): Coordination => ({ ...own, [key]: value });

export const withGuardrails = (own: Coordination, values: Guardrails): Coordination => {
  const next = Object.entries({ ...own.wake_guardrails, ...values }).filter(([, value]) => value !== undefined);
  return { ...own, wake_guardrails: next.length === 0 ? undefined : Object.fromEntries(next) };
};

/** What was set, and what holds with every default filled in. */
interface ConfigAnswer<Own> {
  readonly own: Own;
  readonly effective: EffectiveConfig;
  readonly version: number;
}

export interface Limits<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  /** Resolves when the relay has it and the page shows the new state. */
  change(edit: (own: Own) => Own): Promise<RelayResult<null>>;
}

interface LimitsDeps<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  readonly read: () => Promise<RelayResult<ConfigAnswer<Own>>>;
  /** Refused as `changed-elsewhere` if another version than this one is set by now. */
  readonly put: (own: Own & { readonly version: number }) => Promise<RelayResult<ConfigAnswer<Own>>>;
}

export function createLimits<Own>({ query, read, put }: LimitsDeps<Own>): Limits<Own> {
  const inTurn = createQueue();
  return {
    query,
    change: (edit) =>
      inTurn(async () => {
        const shown = query.store.getState();
        // What the page knows goes out in the moment of the press: a person who leaves at once has
        // set it all the same.
        const info = shown.kind === 'ready' ? ({ ok: true, value: shown.value } as const) : await read();
        if (!info.ok) return info;
        // Of what somebody else has set since, only what this edit is about changes.
        const result = await overNewest(info.value, ({ own, version }) => put({ ...edit(own), version }));
        if ('clash' in result) throw new Error('An edit of limits is made over whatever is set.');
        if (!result.ok) return result;
        query.put(result.value);
        return { ok: true, value: null };
      }),
  };
}

export type AgentLimits = Limits<AgentConfig>;
export type HouseholdLimits = Limits<HouseholdConfig>;

export interface RelayInfoState {
  /** null until the relay has answered once. */
  readonly health: Health | null;
  readonly problem: StorageProblem | null;
  /** How this browser relates to the households of the relay. */
  readonly home: 'asking' | 'unreachable' | HomeStatus;
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
  /** Ends the current step without what it waits for. Null: it does not wait, or not for long. */
  readonly goOn: (() => void) | null;
  /** `soon`: the session ends in a moment, unless the person undoes it. */
  readonly ending: false | 'soon' | 'now';
}
export const createPending = (): StoreApi<PendingState> =>
  createStore<PendingState>()(() => ({ call: null, step: null, goOn: null, ending: false }));
