/**
 * What the team costs, and what it may cost, as this page shows it. Fetched with the parts of the
 * page that show it.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, MessageId } from '../../shared/domain/ids.ts';
import type { Costs, Price, PricesAnswer } from '../../shared/protocol/costs.ts';
import { newerOf } from '../../shared/relay-client/client.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { type Done, doneOf } from './attempt.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { withCoordination } from './limits.ts';
import { reachQueries } from './reach-queries.ts';

// What replies cost: asked for in one call for those that came into sight together, and kept.

interface ReplyCost {
  readonly costMicroUsd: number;
  /** By the price of all models, because its own is not known. */
  readonly estimated: boolean;
}

interface ReplyCostsState {
  readonly known: ReadonlyMap<string, ReplyCost>;
  /** Shown beside every reply, not only under the pointer. */
  readonly always: boolean;
}

interface ReplyCosts {
  readonly store: StoreApi<ReplyCostsState>;
  /** This reply is in sight. Returns the way to look away. */
  look(messageId: MessageId): () => void;
  showAlways(always: boolean): void;
}

/** ms in which those that come into sight are gathered. */
const GATHER_MS = 120;
/** Replies that one call asks for, as the relay takes them. */
const AT_ONCE = 100;
/** ms after a change before those that were not known are asked for again. */
const AGAIN_MS = 400;
const KEY = 'roost-reply-costs';

function createReplyCosts({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): ReplyCosts {
  const store = createStore<ReplyCostsState>()(() => ({
    known: new Map(),
    always: device.browser.read(KEY) === 'always',
  }));
  /** In sight, by how many rows; only those without a cost are asked for. */
  const inSight = new Map<string, number>();
  const asked = new Set<string>();
  let scheduled = false;

  async function ask() {
    scheduled = false;
    const wanted = [...inSight.keys()]
      .filter((id) => !asked.has(id) && !store.getState().known.has(id))
      .slice(0, AT_ONCE);
    if (wanted.length === 0) return;
    for (const id of wanted) asked.add(id);
    const read = await reach((client) => client.replyCosts({ ids: wanted }));
    // What could not be read is asked for again with the next change, or when it comes into sight
    // again.
    if (!read.ok) return wanted.forEach((id) => asked.delete(id));
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
    // A reply is there a moment before what it cost.
    for (const id of inSight.keys()) asked.delete(id);
    if (inSight.size > 0) schedule(AGAIN_MS);
  });

  return {
    store,
    look(messageId) {
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

/** What the replies of this page cost. */
export const replyCostsOf = onePerPage(createReplyCosts);

export interface CostQueries {
  /** Over so many days, 1 to 90. */
  report(days: number): Query<Costs>;
  readonly prices: Query<PricesAnswer>;
  /** US dollars a day for everybody together; null: no limit. */
  setHouseholdBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for each agent that has no budget of its own; null: no limit. */
  setEachBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for one agent; null: as for each of them. */
  setAgentBudget(agentId: AgentId, usd: number | null): Promise<Done>;
  /**
   * An empty list brings Roost's own back. `version`: of the table from which this one was made;
   * left out: it overwrites. `newer`: that of the table that another page has saved since.
   */
  setPrices(prices: readonly Price[], version?: number): Promise<Done & { readonly newer?: number }>;
}

function createCostQueries(state: RoostState): CostQueries {
  const { reach, changes, device, limits } = state;
  const reports = createQueryFamily((days) =>
    createQuery<Costs>({
      ask: () => reach((client) => client.costs({ days: Number(days) })),
      changes,
      device,
      what: ['costs', 'config'],
    }),
  );
  const prices = createQuery<PricesAnswer>({
    ask: () => reach((client) => client.prices()),
    changes,
    device,
    what: ['costs'],
  });

  return {
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
        await reachQueries(state)
          .limits(agentId)
          .change((own) => ({
            ...own,
            coordination: withCoordination(own.coordination, 'daily_budget_usd', usd ?? undefined),
          })),
      ),
    async setPrices(table, version) {
      const put = await reach((client) => client.putPrices({ body: { prices: [...table], version } }));
      if (put.ok) prices.put(put.value);
      const newer = newerOf(put);
      if (!newer) return doneOf(put);
      prices.put(newer);
      return { ...doneOf(put), newer: newer.version };
    },
  };
}

/** What this page asks and sets of costs. */
export const costQueriesOf = onePerPage(createCostQueries);
