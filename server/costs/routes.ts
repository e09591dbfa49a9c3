/** The calls of tokens and money. */
import { costEndpoints } from '../../src/protocol/endpoints/costs.ts';
import { answer, type Handled } from '../endpoint.ts';
import type { CostBook } from './index.ts';

export function createCostRoutes({ costs }: { readonly costs: Omit<CostBook, 'check' | 'note'> }): readonly Handled[] {
  return answer(costEndpoints, {
    costs: async ({ days }) => await costs.report(days),
    replyCosts: async ({ ids }) => ({ replies: Object.fromEntries(await costs.replies(ids)) }),
    prices: async () => ({ prices: await costs.prices() }),
    async putPrices({ body }) {
      await costs.setPrices(body.prices);
      return { prices: await costs.prices() };
    },
  });
}
