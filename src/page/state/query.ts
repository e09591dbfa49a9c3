/**
 * Something the relay keeps, as this page shows it. It is asked for once when somebody looks, and
 * again when the relay says that it changed; while nobody looks it only grows stale.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Changed } from '../../shared/protocol/events.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { Change, Changes } from './documents.ts';
import type { Device } from './ports.ts';

/**
 * ms between hearing of a change and asking: changes come in bursts. `SOON_MS`: of what somebody
 * waits for.
 */
const ASK_AGAIN_MS = 250;
export const SOON_MS = 30;

export type QueryState<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly problem: RelayProblem }
  /**
   * `stale`: it has changed since, or may have while nobody looked, and the new one is not here
   * yet; `problem` says why, where asking failed.
   */
  | { readonly kind: 'ready'; readonly value: Value; readonly stale: boolean; readonly problem: RelayProblem | null };

export interface Query<Value> {
  readonly store: StoreApi<QueryState<Value>>;
  /** Somebody looks from now on. Returns the way to look away. */
  subscribe(): () => void;
  /** Asks now, whatever is known. Resolves when the answer is in the store. */
  again(): Promise<void>;
  /** What is known without asking: the answer to a call that changed it. */
  put(value: Value): void;
  /** Changes the value, where there is one, which is as old then as it was. */
  amend(change: (value: Value) => Value): void;
}

export interface QueryDeps<Value> {
  readonly ask: () => Promise<RelayResult<Value>>;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after'>;
  /** The changes after which it is asked for again. */
  readonly what: readonly Changed[];
  /** Whose it is: changes of others are passed over. Null: everybody's. */
  readonly agentId?: AgentId | null;
  /** ms between hearing of a change and asking; left out: as for all. */
  readonly askAgainMs?: number;
}

export function createQuery<Value>({
  ask,
  changes,
  device,
  what,
  agentId = null,
  askAgainMs = ASK_AGAIN_MS,
}: QueryDeps<Value>): Query<Value> {
  const store = createStore<QueryState<Value>>()(() => ({ kind: 'loading' }));
  let lookers = 0;
  /** Counts what makes an answer under way out of date. */
  let version = 0;
  let known = -1;
  let asking: Promise<void> | null = null;
  /** Questions that have not gone out, and the version that the last which has asks for. */
  let toAsk = 0;
  let asked = -1;
  let cancelAsk: (() => void) | null = null;
  let stopListening: (() => void) | null = null;

  const concerns = (change: Change) =>
    change.what === 'everything' ||
    (what.includes(change.what) && (agentId === null || change.agentId === null || change.agentId === agentId));

  function take(value: Value) {
    store.setState({ kind: 'ready', value, stale: known !== version, problem: null }, true);
  }

  async function askOnce() {
    toAsk--;
    const mine = (asked = version);
    const result = await ask();
    if (mine < known) return;
    if (result.ok) {
      known = mine;
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
    // What is under way may have been answered before the change: it is followed by another.
    toAsk++;
    const turn: Promise<void> = (asking ?? Promise.resolve()).then(askOnce).finally(() => {
      if (asking === turn) asking = null;
    });
    asking = turn;
    return turn;
  }

  /** What is here may not be all any more. */
  function outdate() {
    version++;
    const state = store.getState();
    if (state.kind === 'ready' && !state.stale) store.setState({ ...state, stale: true }, true);
  }

  function hear(change: Change) {
    if (!concerns(change)) return;
    outdate();
    if (lookers > 0) cancelAsk ??= device.after(askAgainMs, () => void again());
  }

  return {
    store,
    subscribe() {
      lookers++;
      stopListening ??= changes.subscribe(hear);
      // What was asked for before somebody looked away may be answered with what was so then.
      const isComing = toAsk > 0 || (asking !== null && asked === version);
      if (known !== version && !isComing) void again();
      let looks = true;
      return () => {
        if (!looks) return;
        looks = false;
        if (--lookers > 0) return;
        stopListening?.();
        stopListening = null;
        cancelAsk?.();
        cancelAsk = null;
        // What happens while nobody looks is not heard of.
        outdate();
      };
    },
    again,
    put(value) {
      known = ++version;
      take(value);
      // What happens to it before somebody looks is not heard of.
      if (lookers === 0) outdate();
    },
    amend(change) {
      const state = store.getState();
      if (state.kind === 'ready') store.setState({ ...state, value: change(state.value) }, true);
    },
  };
}

/**
 * One `Query` for each key, made when it is first asked for: whoever shows the same thing shares
 * it.
 */
export function createQueryFamily<One>(make: (key: string) => One): (key: string) => One {
  const family = new Map<string, One>();
  return (key) => {
    const held = family.get(key) ?? make(key);
    family.set(key, held);
    return held;
  };
}
