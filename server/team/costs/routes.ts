/** The calls of tokens and money. */
import { costEndpoints } from '../../../src/shared/protocol/endpoints/costs.ts';
import type { Configs, SessionHost } from '../../contracts/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Costs } from '../../../src/shared/protocol/costs.ts';
import type { OpenCosts } from './index.ts';
import { COST_LIMITS } from './settings.ts';

export interface CostRoutesDeps {
  readonly costs: Omit<OpenCosts, 'check' | 'note'>;
  readonly host: Pick<SessionHost, 'sizeOfWake'>;
  readonly configs: Pick<Configs, 'agent'>;
  /** What runs without the person took since then, by what was scheduled, the dearest first. */
  readonly schedules: { spentSince(from: number): Promise<Costs['routines']> };
}

export function createCostRoutes({ costs, schedules, host, configs }: CostRoutesDeps): readonly Handled[] {
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
    prices: async () => ({ prices: await costs.prices() }),
    async putPrices({ body }) {
      await costs.setPrices(body.prices);
      return { prices: await costs.prices() };
    },
  });
}
