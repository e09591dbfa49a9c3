/** HTTP routes for tokens and money. */
import { costEndpoints } from '../../../src/shared/protocol/endpoints/costs.ts';
import type { Configs, SessionHost } from '../../contracts/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import type { Costs, PricesAnswer } from '../../../src/shared/protocol/costs.ts';
import type { OpenCosts } from './index.ts';
import { COST_LIMITS } from './settings.ts';

export interface CostRoutesDeps {
  readonly costs: Omit<OpenCosts, 'check' | 'note'>;
  readonly host: Pick<SessionHost, 'sizeOfWake'>;
  readonly configs: Pick<Configs, 'agent'>;
  /** Costs of scheduled and woken runs since then, by schedule, most expensive first. */
  readonly schedules: { spentSince(from: number): Promise<Costs['routines']> };
}

export function createCostRoutes({ costs, schedules, host, configs }: CostRoutesDeps): readonly Handled[] {
  async function currentPrices(): Promise<PricesAnswer> {
    const { prices, version } = await costs.prices();
    return { prices: [...prices], version };
  }
  return answer(costEndpoints, {
    async costs({ days }) {
      const { from, sessionsRest, ...report } = await costs.report(days);
      const all = await schedules.spentSince(from);
      const left = all.slice(COST_LIMITS.routines);
      const sumOf = (figure: 'runs' | 'tokens' | 'costMicroUsd') => left.reduce((sum, one) => sum + one[figure], 0);
      const rest = {
        ...(left.length === 0
          ? {}
          : {
              routines: {
                count: left.length,
                runs: sumOf('runs'),
                tokens: sumOf('tokens'),
                costMicroUsd: sumOf('costMicroUsd'),
                estimated: left.some(({ estimated }) => estimated),
              },
            }),
        ...(sessionsRest === null ? {} : { sessions: sessionsRest }),
      };
      return {
        ...report,
        routines: all.slice(0, COST_LIMITS.routines),
        ...(Object.keys(rest).length === 0 ? {} : { rest }),
      };
    },
    replyCosts: async ({ ids }) => ({ replies: Object.fromEntries(await costs.replies(ids)) }),
    async wakeCost({ body }) {
      const size = await host.sizeOfWake(body, AbortSignal.timeout(COST_LIMITS.measureMs));
      if (!size.ok)
        throw problem(400, 'malformed', size.detail, {
          fields: { errors: [{ field: 'text', message: size.detail }] },
        });
      const reads = size.requests.map(async ({ agentId, model, bytes }) => {
        const { tokens, microUsd, estimated } = await costs.expected(model, bytes);
        const { mind } = (await configs.agent(agentId)).effective.coordination;
        return {
          agentId,
          requests: bytes.length,
          tokens,
          costMicroUsd: microUsd,
          estimated,
          program: mind !== null,
        };
      });
      return { reads: await Promise.all(reads) };
    },
    prices: currentPrices,
    async putPrices({ body }) {
      if (!(await costs.setPrices(body.prices, body.version))) throw changedElsewhere(await currentPrices());
      return await currentPrices();
    },
  });
}
