/** The calls of tokens and money. */
import { costEndpoints } from '../../src/protocol/endpoints/costs.ts';
import { answer, type Handled } from '../endpoint.ts';
import type { Costs } from '../../src/protocol/costs.ts';
import type { OpenCosts } from './index.ts';
import { COST_LIMITS } from './settings.ts';

export interface CostRoutesDeps {
  readonly costs: Omit<OpenCosts, 'check' | 'note'>;
  /** What runs without the person took since then, by what was scheduled. */
  readonly schedules: { spentSince(from: number, most: number): Promise<Costs['routines']> };
}

export function createCostRoutes({ costs, schedules }: CostRoutesDeps): readonly Handled[] {
  return answer(costEndpoints, {
    async costs({ days }) {
      const { from, ...report } = await costs.report(days);
      return { ...report, routines: await schedules.spentSince(from, COST_LIMITS.routines) };
    },
    replyCosts: async ({ ids }) => ({ replies: Object.fromEntries(await costs.replies(ids)) }),
    prices: async () => ({ prices: await costs.prices() }),
    async putPrices({ body }) {
      await costs.setPrices(body.prices);
      return { prices: await costs.prices() };
    },
  });
}
