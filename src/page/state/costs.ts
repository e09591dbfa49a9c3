/** What the team costs and may cost. Loaded with the parts of the page that show it. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, MessageId } from '../../shared/domain/ids.ts';
import type { Costs, Price, PricesAnswer } from '../../shared/protocol/costs.ts';
import { newerOf } from '../../shared/relay-client/result.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { type Done, doneOf } from './attempt.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { withCoordination } from './relay-info.ts';
import { mapResult } from './call-relay.ts';
import { wakeQueries } from './wakes.ts';

// Costs of replies. Replies that come into view together are requested in one call, and the costs
// are cached.

interface ReplyCost {
  readonly costMicroUsd: number;
  /** Uses the default price, since the model's own is unknown. */
  readonly estimated: boolean;
}

interface ReplyCostsState {
  readonly known: ReadonlyMap<string, ReplyCost>;
  /** Shown beside every reply, not only on hover. */
  readonly always: boolean;
}

interface ReplyCosts {
  readonly store: StoreApi<ReplyCostsState>;
  /** This reply is in view. Returns a function that unsubscribes. */
  view(messageId: MessageId): () => void;
  showAlways(always: boolean): void;
}

/** ms in which replies that come into view are batched. */
const GATHER_MS = 120;
/** Replies per call, as the relay accepts them. */
const AT_ONCE = 100;
/** ms after a change before unknown costs are requested again. */
const AGAIN_MS = 400;
const KEY = 'roost-reply-costs';

function createReplyCosts({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): ReplyCosts {
  const store = createStore<ReplyCostsState>()(() => ({
    known: new Map(),
    always: device.browser.read(KEY) === 'always',
  }));
  /** Replies in view, with the number of their rows. Only those without a cost are requested. */
  const inSight = new Map<string, number>();
  const askedIds = new Set<string>();
  let scheduled = false;

  async function ask() {
    scheduled = false;
    const wanted = [...inSight.keys()]
      .filter((id) => !askedIds.has(id) && !store.getState().known.has(id))
      .slice(0, AT_ONCE);
    if (wanted.length === 0) return;
    for (const id of wanted) askedIds.add(id);
    const read = await callRelay((client) => client.replyCosts({ ids: wanted }));
    // A failed request is repeated with the next change, or when the reply comes into view again.
    if (!read.ok) return wanted.forEach((id) => askedIds.delete(id));
    const found = Object.entries(read.value.replies);
    if (found.length > 0) store.setState(({ known }) => ({ known: new Map([...known, ...found]) }));
    schedule(GATHER_MS);
  }
  function schedule(ms: number) {
    if (scheduled) return;
    scheduled = true;
    device.after(ms, () => void ask());
  }

  changes.subscribe(({ what }) => {
    if (what !== 'costs' && what !== 'everything') return;
    // A reply arrives a moment before its cost.
    for (const id of inSight.keys()) askedIds.delete(id);
    if (inSight.size > 0) schedule(AGAIN_MS);
  });

  return {
    store,
    view(messageId) {
      inSight.set(messageId, (inSight.get(messageId) ?? 0) + 1);
      if (!store.getState().known.has(messageId)) schedule(GATHER_MS);
      return () => {
        const rows = (inSight.get(messageId) ?? 1) - 1;
        if (rows > 0) inSight.set(messageId, rows);
        else inSight.delete(messageId);
      };
    },
    showAlways(always) {
      device.browser.write(KEY, always ? 'always' : '');
      store.setState({ always });
    },
  };
}

/** Costs of this page's replies. */
export const replyCostsOf = onePerPage(createReplyCosts);

export interface CostQueries {
  /** For this many days, 1 to 90. */
  report(days: number): Query<Costs>;
  readonly prices: Query<PricesAnswer>;
  /** What an answer has cost so far; null: nothing is counted yet. */
  ofAnswer(messageId: MessageId): Query<ReplyCost | null>;
  /** US dollars a day for all agents together; null: no limit. */
  setHouseholdBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for each agent without a budget of its own; null: no limit. */
  setEachBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for one agent; null: the default for each agent. */
  setAgentBudget(agentId: AgentId, usd: number | null): Promise<Done>;
  /**
   * An empty list restores Roost's own prices. `version`: of the table that was edited; left out:
   * the current one is overwritten. `newer`: the version that another page has saved since.
   */
  setPrices(prices: readonly Price[], version?: number): Promise<Done & { readonly newer?: number }>;
}

function createCostQueries(state: RoostState): CostQueries {
  const { callRelay, changes, device, limits } = state;
  const reports = createQueryFamily((days) =>
    relayQuery<Costs>({ callRelay, changes, device }, ['costs', 'config'], (client) =>
      client.costs({ days: Number(days) }),
    ),
  );
  const prices = relayQuery<PricesAnswer>({ callRelay, changes, device }, ['costs'], (client) => client.prices());

  const answers = createQueryFamily((messageId) =>
    relayQuery<ReplyCost | null>({ callRelay, changes, device }, ['costs'], async (client) =>
      mapResult(await client.replyCosts({ ids: [messageId] }), ({ replies }) => replies[messageId] ?? null),
    ),
  );

  return {
    ofAnswer: answers,
    report: (days) => reports(String(days)),
    prices,
    setHouseholdBudget: async (usd) => doneOf(await limits.change((own) => ({ ...own, daily_budget_usd: usd }))),
    setEachBudget: async (usd) =>
      doneOf(
        await limits.change((own) => ({
          ...own,
          coordination: withCoordination(own.coordination, 'daily_budget_usd', usd),
        })),
      ),
    setAgentBudget: async (agentId, usd) =>
      doneOf(
        await wakeQueries(state)
          .limits(agentId)
          .change((own) => ({
            ...own,
            coordination: withCoordination(own.coordination, 'daily_budget_usd', usd ?? undefined),
          })),
      ),
    async setPrices(table, version) {
      const put = await callRelay((client) => client.putPrices({ body: { prices: [...table], version } }));
      if (put.ok) prices.put(put.value);
      const newer = newerOf(put);
      if (!newer) return doneOf(put);
      prices.put(newer);
      return { ...doneOf(put), newer: newer.version };
    },
  };
}

/** This page's cost queries and settings. */
export const costQueriesOf = onePerPage(createCostQueries);
