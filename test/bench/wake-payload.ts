/**
 * What a WAKE carries, gathered: from asking the ledger's owner to the finished message for all
 * eight, from a ledger of years whose last conversation lies behind many wakes that were followed
 * by nothing.
 */
import type {} from '../support/bench-page/main.ts';
import { AGENTS, type HouseholdPlan } from '../support/household-generator.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { median, percentile } from './figures.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL, type Place } from './place.ts';

const CAP = 24_000;
const YEARS = { seed: 1, messages: 10_000 };
/**
 * Households, the same but for the wakes since anybody said anything to the eight; payloads, after
 * those that are not counted.
 */
const FULL = {
  plans: [
    { ...YEARS, idle: 0 },
    { ...YEARS, idle: 1_000 },
  ] as readonly Plan[],
  warmUp: 1,
  wakes: 31,
};
const SMOKE: typeof FULL = { plans: [SMALL], warmUp: 0, wakes: 1 };
type Plan = HouseholdPlan & { readonly idle: number };
const LIMIT_MS = 50;
const RATIO_LIMIT = 1.3;

interface Gathered {
  readonly times: readonly number[];
  readonly chars: number;
  readonly messages: number;
}

const gather = (plan: Plan, { warmUp, wakes }: typeof FULL, place: Place): Promise<Gathered> =>
  withOpened(async (keep) => {
    const { profile, port } = keep(await place.prepare(plan), (household) => household.profile.remove());
    keep(await servePage(await buildPage('bench-page'), undefined, { port }), (server) => server.close());
    const page = await (await profile.open()).newPage();
    await page.goto(`http://127.0.0.1:${port}`);
    const agentIds = AGENTS.map(({ agentId }) => agentId);
    const all = [];
    for (let n = 0; n < warmUp + wakes; n++)
      all.push(
        await page.evaluate(({ agentIds, cap }) => window.bench.wakePayload(agentIds, cap), { agentIds, cap: CAP }),
      );
    const warm = all.slice(warmUp);
    return { times: warm.map(({ ms }) => ms), chars: warm[0]?.chars ?? 0, messages: warm[0]?.messages ?? 0 };
  });

/** About two minutes, nearly all of it for writing two households. */
export const wakePayload = definePart({
  name: 'wake-payload',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  async run(sizes, place) {
    const gathered: Gathered[] = [];
    for (const plan of sizes.plans) gathered.push(await gather(plan, sizes, place));
    const [talked, idle, last] = [gathered[0], gathered.at(-1), sizes.plans.at(-1)];
    if (!talked || !idle || !last) throw new Error('No household was asked for.');
    const size = ({ chars, messages }: Gathered) =>
      `${messages} messages, ${Math.round(chars / 1_000)} thousand characters`;
    const behind = last.messages.toLocaleString('en');
    const limit = (of: Gathered) => ({ kind: 'limit', what: size(of), value: LIMIT_MS }) as const;
    return {
      title: 'What a WAKE of eight carries, gathered',
      method: `median of ${sizes.wakes}, from asking the owner to the finished message; cap of ${CAP.toLocaleString('en')} characters each; ${behind} messages behind the last conversation`,
      figures: [
        { what: 'after a conversation', value: median(talked.times), unit: 'ms', beside: limit(talked) },
        { what: '  95 % within', value: percentile(talked.times, 0.95), unit: 'ms', beside: limit(talked) },
        {
          what: `after ${last.idle.toLocaleString('en')} wakes that nothing followed`,
          value: median(idle.times),
          unit: 'ms',
          beside: limit(idle),
        },
        { what: '  95 % within', value: percentile(idle.times, 0.95), unit: 'ms', beside: limit(idle) },
        {
          what: '  against the first',
          value: median(idle.times) / median(talked.times),
          unit: '×',
          beside: { kind: 'limit', what: 'whatever lies behind', value: RATIO_LIMIT },
        },
      ],
    };
  },
});
