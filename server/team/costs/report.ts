/** The cost report, by day, agent and session. */
import { microUsdOf, roomIn } from '../../../src/shared/domain/prices.ts';
import type { Costs, Spent } from '../../../src/shared/protocol/costs.ts';
import type { Configs, Directory } from '../../contracts/index.ts';
import type { Budgets } from './budgets.ts';
import { COST_LIMITS } from './settings.ts';
import type { UsageGroup, UsageRows } from './usage-rows.ts';
import { dayOf, wallTime, type Day } from '../../../src/shared/domain/zone-days.ts';

/** A day in the household's time zone, with its date. */
interface NamedDay extends Day {
  /** `YYYY-MM-DD` */
  readonly date: string;
}

function named(zone: string, time: number): NamedDay {
  const day = dayOf(zone, time);
  return { ...day, date: new Date(wallTime(zone, day.start)).toISOString().slice(0, 'YYYY-MM-DD'.length) };
}

/** `count` days, newest first, beginning with the day of `time`. */
function daysBack(zone: string, time: number, count: number): readonly NamedDay[] {
  const days = [named(zone, time)];
  for (let last = days[0]; last && days.length < count; last = days.at(-1)) days.push(named(zone, last.start - 1));
  return days;
}

/** The report without scheduled work. `from`: start of the first day, in ms since the epoch. */
export type Report = Omit<Costs, 'routines' | 'rest'> & {
  readonly from: number;
  /** Sessions that are not listed. Null: all are listed. */
  readonly sessionsRest: { readonly count: number; readonly spent: Spent } | null;
};

const NOTHING: Spent = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicroUsd: 0,
  estimated: false,
};

/** Capped at the largest safe integer, because a larger sum could not be sent. */
const plus = (one: number, other: number) => Math.min(one + other, Number.MAX_SAFE_INTEGER);
const add = (one: Spent, other: Spent): Spent => ({
  requests: plus(one.requests, other.requests),
  inputTokens: plus(one.inputTokens, other.inputTokens),
  outputTokens: plus(one.outputTokens, other.outputTokens),
  cacheReadTokens: plus(one.cacheReadTokens, other.cacheReadTokens),
  cacheWriteTokens: plus(one.cacheWriteTokens, other.cacheWriteTokens),
  costMicroUsd: plus(one.costMicroUsd, other.costMicroUsd),
  estimated: one.estimated || other.estimated,
});
const sum = (groups: readonly UsageGroup[]) => groups.reduce((all, group) => add(all, group.spent), NOTHING);

/** The newest sessions, and the sum of all others. */
function sessionsOf(groups: readonly UsageGroup[]): Pick<Report, 'sessions' | 'sessionsRest'> {
  const known = new Map<string, { lastAt: number; spent: Spent }>();
  for (const { sessionId, lastAt, spent } of groups) {
    if (sessionId === null) continue;
    const before = known.get(sessionId) ?? { lastAt: 0, spent: NOTHING };
    known.set(sessionId, { lastAt: Math.max(before.lastAt, lastAt), spent: add(before.spent, spent) });
  }
  const all = [...known]
    .sort(([, a], [, b]) => b.lastAt - a.lastAt)
    .map(([sessionId, { lastAt, spent }]) => ({ sessionId, lastAt, spent }));
  const rest = all.slice(COST_LIMITS.sessions);
  return {
    sessions: all.slice(0, COST_LIMITS.sessions),
    sessionsRest:
      rest.length === 0 ? null : { count: rest.length, spent: rest.map(({ spent }) => spent).reduce(add, NOTHING) },
  };
}

export interface ReportDeps {
  readonly rows: UsageRows;
  readonly budgets: Pick<Budgets, 'usedUp'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
}

export async function reportOf({ rows, budgets, configs, directory, now }: ReportDeps, count: number): Promise<Report> {
  const { effective } = await configs.household();
  const zone = effective.time_zone;
  const days = daysBack(zone, now(), count);
  const today = days[0];
  if (!today) throw new RangeError('a report is of one day at least');
  const all = await rows.groups(days.map((day) => day.start).reverse());
  // The demo's tokens are shown only if there are no real ones. They are never added to those of a
  // model.
  const real = all.filter(({ rehearsed }) => !rehearsed);
  const groups = real.length > 0 ? real : all;
  const ofDay = (index: number) => groups.filter((group) => group.day === days.length - 1 - index);
  const spentToday = sum(ofDay(0));

  const ids = new Set([
    ...(await directory.all()).filter((agent) => !agent.retired).map((agent) => agent.agentId),
    ...groups.map((group) => group.agentId),
  ]);
  const agents = await Promise.all(
    [...ids].map(async (agentId) => ({
      agentId,
      today: sum(ofDay(0).filter((group) => group.agentId === agentId)),
      total: sum(groups.filter((group) => group.agentId === agentId)),
      dailyBudgetUsd: (await configs.agent(agentId)).effective.coordination.daily_budget_usd,
    })),
  );
  agents.sort((a, b) => b.total.costMicroUsd - a.total.costMicroUsd);

  const spending = agents
    .map(({ agentId, today: { costMicroUsd } }) => ({ agentId, microUsd: costMicroUsd }))
    .sort((a, b) => b.microUsd - a.microUsd);
  const stopped: Report['stopped'] = [];
  const household = { budget: microUsdOf(effective.daily_budget_usd), spent: spentToday.costMicroUsd, held: 0 };
  if (roomIn(household, 0) === 'spent')
    stopped.push({
      scope: 'household',
      agentId: null,
      message: await budgets.usedUp({ scope: 'household' }, household, spending, today, zone),
      until: today.end,
    });
  for (const { agentId, dailyBudgetUsd, today: spent } of agents) {
    const own = { budget: microUsdOf(dailyBudgetUsd), spent: spent.costMicroUsd, held: 0 };
    if (roomIn(own, 0) !== 'spent') continue;
    stopped.push({
      scope: 'agent',
      agentId,
      message: await budgets.usedUp({ scope: 'agent', agentId }, own, spending, today, zone),
      until: today.end,
    });
  }

  return {
    from: days.at(-1)?.start ?? today.start,
    today: spentToday,
    dailyBudgetUsd: effective.daily_budget_usd,
    days: days.map(({ date }, index) => ({ day: date, spent: sum(ofDay(index)) })),
    agents,
    ...sessionsOf(groups),
    stopped,
  };
}
