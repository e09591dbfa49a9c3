/** The calls of tokens and money. */
import { pricesSchema } from '../../src/protocol/costs.ts';
import { readBody } from '../body.ts';
import { problem } from '../problem.ts';
import { numberOf, type Routes } from '../route.ts';
import type { CostBook } from './index.ts';
import { COST_LIMITS } from './settings.ts';

function idsOf(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').filter((id) => id !== ''))];
  if (ids.length <= COST_LIMITS.replies) return ids;
  const message = `must name at most ${COST_LIMITS.replies} replies`;
  throw problem(400, 'misfit', `ids: ${message}`, { fields: { errors: [{ field: 'ids', message }] } });
}

export function createCostRoutes({ costs }: { readonly costs: Omit<CostBook, 'check' | 'note'> }): Routes {
  return (route) => {
    route('/api/costs', {
      GET: async (context) =>
        context.json(
          await costs.report(
            numberOf(context, 'days', {
              min: 1,
              max: COST_LIMITS.reportDays,
              otherwise: COST_LIMITS.defaultReportDays,
            }),
          ),
        ),
    });
    route('/api/costs/replies', {
      GET: async (context) =>
        context.json({ replies: Object.fromEntries(await costs.replies(idsOf(context.req.query('ids') ?? ''))) }),
    });
    route('/api/prices', {
      GET: async (context) => context.json({ prices: await costs.prices() }),
      async PUT(context) {
        const { prices } = await readBody(context, pricesSchema);
        await costs.setPrices(prices);
        return context.json({ prices: await costs.prices() });
      },
    });
  };
}
