/**
 * What the team costs, and what it may cost, as this page shows it. Fetched with the parts of the
 * page that show it.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Costs, Price } from '../../shared/protocol/costs.ts';
import { doneOf, type Done } from './attempt.ts';
import type { RoostState } from './index.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { withCoordination } from './limits.ts';
import { onePerPage } from './per-page.ts';
import { reachQueries } from './reach-queries.ts';
import { mapResult } from './reach.ts';

export interface CostQueries {
  /** Over so many days, 1 to 90. */
  report(days: number): Query<Costs>;
  readonly prices: Query<readonly Price[]>;
  /** US dollars a day for everybody together; null: no limit. */
  setHouseholdBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for each agent that has no budget of its own; null: no limit. */
  setEachBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for one agent; null: as for each of them. */
  setAgentBudget(agentId: AgentId, usd: number | null): Promise<Done>;
  /** An empty list brings Roost's own back. */
  setPrices(prices: readonly Price[]): Promise<Done>;
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
  const prices = createQuery<readonly Price[]>({
    ask: async () => mapResult(await reach((client) => client.prices()), ({ prices: table }) => table),
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
    async setPrices(table) {
      const put = await reach((client) => client.putPrices({ body: { prices: [...table] } }));
      if (put.ok) prices.put(put.value.prices);
      return doneOf(put);
    },
  };
}

/** What this page asks and sets of costs. */
export const costQueriesOf = onePerPage(createCostQueries);
