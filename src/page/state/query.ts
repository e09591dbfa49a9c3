/**
 * A cached value of the relay. It is requested when the first view subscribes, and again when the
 * relay announces a change. Without subscribers it only becomes stale.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, ProjectId } from '../../shared/domain/ids.ts';
import type { Changed } from '../../shared/protocol/events.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { DeferredClient } from '../../shared/relay-client/deferred-client.ts';
import type { Change, Changes } from './documents.ts';
import type { Device } from './ports.ts';
import type { CallRelay } from './call-relay.ts';

/**
 * ms between a change and the next request, since changes come in bursts. `SOON_MS` is for values
 * that people wait for.
 */
const ASK_AGAIN_MS = 250;
export const SOON_MS = 30;

export type QueryState<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly problem: RelayProblem }
  /**
   * `stale`: it has changed, or may have changed without subscribers, and the new value is not here
   * yet. `problem` says why the last request failed.
   */
  | { readonly kind: 'ready'; readonly value: Value; readonly stale: boolean; readonly problem: RelayProblem | null };

export interface Query<Value> {
  readonly store: StoreApi<QueryState<Value>>;
  /** Subscribes a view. Returns a function that unsubscribes. */
  subscribe(): () => void;
  /** Requests it now, whatever is known. Resolves when the answer is in the store. */
  again(): Promise<void>;
  /** Sets the value without a request: the answer to a call that changed it. */
  put(value: Value): void;
  /** Changes an existing value without making it fresher. */
  amend(change: (value: Value) => Value): void;
}

export interface QueryDeps<Value> {
  /** `show` shows a first part of the value while nothing else is shown. */
  readonly ask: (show: (part: Value) => void) => Promise<RelayResult<Value>>;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after'>;
  /** The changes after which it is requested again. */
  readonly what: readonly Changed[];
  /** Ignores changes of other agents; null: all agents. */
  readonly agentId?: AgentId | null;
  /** Ignores changes of other projects; left out: of none. */
  readonly projectId?: ProjectId;
  /** ms between a change and the next request; left out: the default. */
  readonly askAgainMs?: number;
}

export function createQuery<Value>({
  ask,
  changes,
  device,
  what,
  agentId = null,
  projectId,
  askAgainMs = ASK_AGAIN_MS,
}: QueryDeps<Value>): Query<Value> {
  const store = createStore<QueryState<Value>>()(() => ({ kind: 'loading' }));
  let subscribers = 0;
  /** Counts changes that outdate a running request. */
  let version = 0;
  let answeredVersion = -1;
  let asking: Promise<void> | null = null;
  /** `toAsk`: requests that have not left yet. `askedVersion`: the version of the last request. */
  let toAsk = 0;
  let askedVersion = -1;
  let cancelAsk: (() => void) | null = null;
  let stopListening: (() => void) | null = null;

  const concerns = (change: Change) =>
    change.what === 'everything' ||
    (what.includes(change.what) &&
      (agentId === null || change.agentId === null || change.agentId === agentId) &&
      (projectId === undefined || change.projectId === undefined || change.projectId === projectId));

  function take(value: Value) {
    store.setState({ kind: 'ready', value, stale: answeredVersion !== version, problem: null }, true);
  }

  async function askOnce() {
    toAsk--;
    const mine = (askedVersion = version);
    const result = await ask((part) => {
      if (answeredVersion < 0) store.setState({ kind: 'ready', value: part, stale: true, problem: null }, true);
    });
    if (mine < answeredVersion) return;
    if (result.ok) {
      answeredVersion = mine;
      take(result.value);
      return;
    }
    const before = store.getState();
    store.setState(
      before.kind === 'ready'
        ? { ...before, stale: true, problem: result.problem }
        : { kind: 'failed', problem: result.problem },
      true,
    );
  }

  function again(): Promise<void> {
    cancelAsk?.();
    cancelAsk = null;
    // The running request may have been answered before the change, so another one follows.
    toAsk++;
    const turn: Promise<void> = (asking ?? Promise.resolve()).then(askOnce).finally(() => {
      if (asking === turn) asking = null;
    });
    asking = turn;
    return turn;
  }

  /** The value may be out of date. */
  function outdate() {
    version++;
    const state = store.getState();
    if (state.kind === 'ready' && !state.stale) store.setState({ ...state, stale: true }, true);
  }

  function hear(change: Change) {
    if (!concerns(change)) return;
    outdate();
    if (subscribers > 0) cancelAsk ??= device.after(askAgainMs, () => void again());
  }

  return {
    store,
    subscribe() {
      subscribers++;
      stopListening ??= changes.subscribe(hear);
      // A request made before the last view unsubscribed may return an older state.
      const isComing = toAsk > 0 || (asking !== null && askedVersion === version);
      if (answeredVersion !== version && !isComing) void again();
      let isSubscribed = true;
      return () => {
        if (!isSubscribed) return;
        isSubscribed = false;
        if (--subscribers > 0) return;
        stopListening?.();
        stopListening = null;
        cancelAsk?.();
        cancelAsk = null;
        // Without subscribers, changes are not received.
        outdate();
      };
    },
    again,
    put(value) {
      answeredVersion = ++version;
      take(value);
      // Changes before the first subscriber are not received.
      if (subscribers === 0) outdate();
    },
    amend(change) {
      const state = store.getState();
      if (state.kind === 'ready') store.setState({ ...state, value: change(state.value) }, true);
    },
  };
}

/** What of the page a value of the relay needs. */
export interface QueryParts extends Pick<QueryDeps<unknown>, 'changes' | 'device'> {
  readonly callRelay: CallRelay;
}

/** A value that one call to the relay reads. `what`: the changes after which it is read again. */
export function relayQuery<Value>(
  { callRelay, changes, device }: QueryParts,
  what: readonly Changed[],
  call: (client: DeferredClient) => Promise<RelayResult<Value>>,
  more: Pick<QueryDeps<Value>, 'agentId' | 'projectId' | 'askAgainMs'> = {},
): Query<Value> {
  return createQuery<Value>({ ...more, changes, device, what, ask: () => callRelay(call) });
}

/** One `Query` per key, created on first use and shared by all views. */
export function createQueryFamily<One>(make: (key: string) => One): (key: string) => One {
  const family = new Map<string, One>();
  return (key) => {
    const held = family.get(key) ?? make(key);
    family.set(key, held);
    return held;
  };
}
