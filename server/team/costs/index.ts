/**
 * Tokens and money. Every request to a model is a row, priced when it is written. Daily budgets
 * stop the next request before it is sent.
 */
import type { z } from 'zod';
import { microUsdOf, roomIn } from '../../../src/shared/domain/money.ts';
import { addCost, type Cost, NO_COST, type TokenCount } from '../../../src/shared/domain/prices.ts';
import type {
  askRunCostSchema,
  Costs as CostSums,
  Price,
  PricesAnswer,
  RepeatedCost,
  Spent,
  WakeCost,
} from '../../../src/shared/protocol/costs.ts';
import { type Day, dayOf, wallTime } from '../../../src/shared/domain/zone-days.ts';
import { newId as randomId } from '../../../src/shared/domain/platform/new-id.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import {
  costOfTaken,
  mostCost,
  mostTaken,
  PLAIN_TERMS,
  type RequestSize,
  type Taken,
} from '../../../src/shared/domain/request-cost.ts';
import { costEndpoints } from '../../../src/shared/protocol/endpoints/costs.ts';
import type { EventLog } from '../../log/index.ts';
import type { CostRequest, Costs, RequestEnd, SizeOfWake, Took, WakeRequests } from './contract.ts';
import type { Directory } from '../directory/index.ts';
import type { Configs } from '../gate/configs.ts';
import { ALWAYS_THERE, type Database, enduring, type HomeStore } from '../../store/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import { type Budgets, createBudgets, createHolds, createReserves, type Room } from './budgets.ts';
import { COST_LIMITS } from './settings.ts';
import { createPriceTable, createReading, createUsageRows, type UsageGroup, type UsageRows } from './usage-rows.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

// The cost report, by day, agent and session.

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
type Report = Omit<CostSums, 'routines' | 'rest'> & {
  readonly from: number;
  /** Sessions that are not listed. Null: all are listed. */
  readonly sessionsRest: { readonly count: number; readonly spent: Spent } | null;
};

const NOTHING_SPENT: Spent = {
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
const sum = (groups: readonly UsageGroup[]) => groups.reduce((all, group) => add(all, group.spent), NOTHING_SPENT);

/** The newest sessions, and the sum of all others. */
function sessionsOf(groups: readonly UsageGroup[]): Pick<Report, 'sessions' | 'sessionsRest'> {
  const sessions = new Map<string, { lastAt: number; spent: Spent }>();
  for (const { sessionId, lastAt, spent } of groups) {
    if (sessionId === null) continue;
    const before = sessions.get(sessionId) ?? { lastAt: 0, spent: NOTHING_SPENT };
    sessions.set(sessionId, { lastAt: Math.max(before.lastAt, lastAt), spent: add(before.spent, spent) });
  }
  const all = [...sessions]
    .sort(([, a], [, b]) => b.lastAt - a.lastAt)
    .map(([sessionId, { lastAt, spent }]) => ({ sessionId, lastAt, spent }));
  const rest = all.slice(COST_LIMITS.sessions);
  return {
    sessions: all.slice(0, COST_LIMITS.sessions),
    sessionsRest:
      rest.length === 0
        ? null
        : { count: rest.length, spent: rest.map(({ spent }) => spent).reduce(add, NOTHING_SPENT) },
  };
}

interface ReportDeps {
  readonly rows: UsageRows;
  readonly budgets: Pick<Budgets, 'usedUp'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
}

async function reportOf({ rows, budgets, configs, directory, now }: ReportDeps, count: number): Promise<Report> {
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

interface CostDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'untilThere'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly log: Pick<EventLog, 'append'>;
  /**
   * No other process can have this store open, as with the embedded one. Prices and spending are
   * then read once.
   */
  readonly alone?: boolean;
  readonly now: () => number;
  /** Monotonic time in ms, for spans. Left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId?: () => string;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  /** ms that `check` waits for requests under way. */
  readonly waitMs?: number;
}

/**
 * `microUsd`: millionths of a dollar. `estimated`: priced with the fallback for models that are not
 * in the table.
 */
interface Expected {
  readonly tokens: number;
  readonly microUsd: number;
  readonly estimated: boolean;
}

/** Costs for the relay's routes, in addition to what other modules use. */
export interface OpenCosts extends Costs {
  /** Counts a request for which nothing was held. */
  note(request: RequestEnd & { readonly agentId: AgentId; readonly took: NonNullable<Took> }): Promise<void>;
  report(days: number): Promise<Report>;
  /**
   * The used-up budget of this agent or of the household, and when it opens again. Null: none is
   * used up.
   */
  usedUp(agentId: AgentId): Promise<{ readonly message: string; readonly until: number } | null>;
  /** Costs by reply. Replies without known costs are left out. */
  replies(messageIds: readonly MessageId[]): Promise<ReadonlyMap<string, Cost>>;
  prices(): Promise<{ readonly prices: readonly Price[]; readonly version: number }>;
  /**
   * What reading requests of these sizes would cost, and writing so many tokens. Each request
   * begins with the whole previous one. `outputTokens` left out: none.
   */
  expected(model: string, bytes: readonly number[], outputTokens?: number): Promise<Expected>;
  /** The cost of runs that come again within the hour. `head`: bytes that each begins with. */
  expectedAgain(model: string, head: number, bytes: number): Promise<RepeatedCost>;
  /** The most that a request of this size can cost, in millionths of a dollar. */
  most(size: RequestSize): Promise<number>;
  /** The prices in the store have changed, so cached ones are dropped. */
  forgetPrices(): void;
  /**
   * Replaces the price table. An empty list restores Roost's own prices. Earlier requests keep
   * their price. False: the table has another version than `version`, and nothing was changed.
   */
  setPrices(prices: readonly Price[], version?: number): Promise<boolean>;
  /**
   * Charges the reserves of a killed process. Runs before anything is sent: `check` calls it if
   * nobody has.
   */
  recover(): Promise<void>;
  /** Resolves when all ended requests are written as such. */
  close(): Promise<void>;
}

/** No tokens. `whole` turns a reported count into a non-negative integer, whatever a model says. */
const NOTHING = { model: '', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const whole = (count: number) =>
  Number.isFinite(count) && count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0;

const inputOf = ({ count }: Pick<Taken, 'count'>) => count.inputTokens + count.cacheReadTokens + count.cacheWriteTokens;

/** What a request used: as reported, and where nothing was reported, the most it may have used. */
function takenOf(took: Took, size: RequestSize | null): Taken {
  const most = size && mostTaken(size);
  if (took === null) return most ?? { count: NOTHING, hourWrites: 0, searches: 0, terms: PLAIN_TERMS };
  const { usage, hourCacheWrites = 0, searches = 0, terms = {}, untold = { input: false, output: false } } = took;
  // Nothing was reported, not even the tier.
  if (most && untold.input && untold.output && took.outputMost === undefined) return most;
  const written = whole(usage.outputTokens);
  const ends = took.whole && !untold.output;
  const unknown = Math.min(took.outputMost ?? Infinity, most?.count.outputTokens ?? Infinity);
  const count = {
    model: usage.model,
    inputTokens: whole(usage.inputTokens),
    outputTokens: ends ? written : Math.max(written, Number.isFinite(unknown) ? unknown : 0),
    cacheReadTokens: whole(usage.cacheReadTokens),
    cacheWriteTokens: whole(usage.cacheWriteTokens),
  };
  if (most && untold.input) {
    count.inputTokens = most.count.inputTokens;
    count.cacheReadTokens = most.count.cacheReadTokens;
    count.cacheWriteTokens = most.count.cacheWriteTokens;
  }
  // Tokens of what the server looked up by itself are reported at the end.
  if (!ends && most && size.openEnded) count.inputTokens += Math.max(0, inputOf(most) - inputOf({ count }));
  return {
    count,
    hourWrites: most && untold.input ? most.hourWrites : whole(hourCacheWrites),
    searches: ends ? whole(searches) : Math.max(whole(searches), most?.searches ?? 0),
    // Requested terms apply unless the answer denies them. The tier is known only from the answer.
    terms: {
      ...(size?.terms ?? PLAIN_TERMS),
      ...(untold.input && untold.output ? {} : { priority: false }),
      ...terms,
    },
  };
}

/** One request under way. */
interface Held {
  /** Resolves with its cost. */
  settle(end: RequestEnd): Promise<Cost>;
  release(): void;
}

const viaOf = ({ credentialId }: CostRequest) => (credentialId === undefined ? 'session' : 'proxy');

interface Counted {
  readonly agentId: AgentId;
  /** Null: not known. */
  readonly size: RequestSize | null;
  readonly usedAt: number;
  readonly reserve: string | null;
}

export function createCosts({
  db,
  database = ALWAYS_THERE,
  home,
  configs,
  directory,
  log,
  alone = false,
  now,
  elapsed = now,
  newId = randomId,
  setAside = SETS_NOTHING_ASIDE,
  waitMs = COST_LIMITS.waitMs,
}: CostDeps): OpenCosts {
  const rows = createUsageRows({ db, database, home, alone, elapsed });
  const prices = createPriceTable(db, home, alone);
  const budgets = createBudgets({ rows, prices, holds: createHolds(), configs, directory, now, elapsed, waitMs });
  /**
   * Events by agent that are being written. Further changes of the same agent share the next event.
   */
  const telling = new Map<string | null, { readonly now: Promise<unknown>; next: Promise<unknown> | null }>();
  function changed(agentId: AgentId | null): Promise<unknown> {
    const under = telling.get(agentId);
    if (under)
      return (under.next ??= under.now.then(
        () => changed(agentId),
        () => changed(agentId),
      ));
    const told = log
      .append([{ kind: 'changed', time: now(), what: 'costs', agentId }])
      .finally(() => telling.delete(agentId));
    telling.set(agentId, { now: told, next: null });
    return told;
  }

  const reading = createReading();
  const reserves = createReserves({ db, home, elapsed, setAside });
  let recovered: Promise<void> | null = null;

  async function count(
    { agentId, size, usedAt, reserve }: Counted,
    { sessionId, messageId, via, took }: RequestEnd,
  ): Promise<Cost> {
    const counts = takenOf(took, size);
    const reported = took?.reportedMicroUsd;
    const cost =
      reported === undefined
        ? costOfTaken(counts, await enduring(database, prices.read))
        : { microUsd: whole(reported), estimated: true };
    const isExact = took?.whole === true && took.untold?.input !== true && took.untold?.output !== true;
    if (isExact && size?.pictures === 0 && counts.searches === 0) reading.learn(size.model, size.bytes, counts.count);
    const estimated = cost.estimated || !isExact;
    const costMicroUsd = Math.min(cost.microUsd, COST_LIMITS.requestMicroUsd);
    const spent = { ...counts.count, costMicroUsd, estimated };
    await rows.add({ usedAt, agentId, sessionId, messageId, via, ...spent, reserve: reserve ?? newId() });
    await changed(agentId);
    return { costMicroUsd, estimated };
  }

  /** Gets room for one request, and writes its reserve to disk. */
  async function hold(
    request: CostRequest,
    signal: AbortSignal | undefined,
    patient: boolean,
  ): Promise<{ readonly ok: true; readonly held: Held } | Extract<Room, { ok: false }>> {
    const room = await budgets.check(request, signal, patient);
    if (!room.ok) return room;
    const { agentId, size, sessionId = null, messageId = null } = request;
    // A free request needs no reserve that survives this process.
    const reserve = room.most > 0 && request.rehearsed !== true ? newId() : null;
    const release = () => {
      if (reserve !== null) reserves.over(reserve);
      room.release();
    };
    try {
      if (reserve !== null)
        await reserves.take({ reserve, takenAt: now(), agentId, size, sessionId, messageId, via: viaOf(request) });
      signal?.throwIfAborted();
    } catch (error) {
      release();
      throw error;
    }
    return {
      ok: true,
      held: {
        release,
        async settle(end) {
          try {
            // The reserve goes with the row. If that could not be written, the reserve stays and is
            // charged at the next start.
            return await count({ agentId, size, usedAt: now(), reserve }, end);
          } finally {
            // The hold is released in any case, and an error reaches the caller.
            room.release();
          }
        },
      },
    };
  }

  const recover = () =>
    (recovered ??= reserves
      .recover(async (left) => {
        const known = await rows.settled(left.map(({ reserve }) => reserve));
        for (const { reserve, takenAt, agentId, size, ...what } of left)
          if (!known.has(reserve)) await count({ agentId, size, usedAt: takenAt, reserve }, { ...what, took: null });
      })
      .catch((error: unknown) => {
        // The next request tries again.
        recovered = null;
        throw error;
      }));

  return {
    async check(request, signal) {
      await recover();
      const first = await hold(request, signal, true);
      if (!first.ok) return first;
      const { sessionId = null, messageId = null } = request;
      /** Null: the request has ended. */
      let currentHold: Held | null = first.held;
      let spent = NO_COST;
      const take = () => {
        const mine = currentHold;
        currentHold = null;
        return mine;
      };
      return {
        ok: true,
        hold: {
          async again() {
            spent = addCost(
              spent,
              (await take()?.settle({ sessionId, messageId, via: viaOf(request), took: null })) ?? NO_COST,
            );
            if (signal?.aborted) return false;
            const next = await hold(request, signal, false);
            if (next.ok) currentHold = next.held;
            return next.ok;
          },
          async settle(end) {
            spent = addCost(spent, (await take()?.settle(end)) ?? NO_COST);
          },
          spent: () => spent,
          release: () => take()?.release(),
        },
      };
    },
    note: async ({ agentId, ...end }) => void (await count({ agentId, size: null, usedAt: now(), reserve: null }, end)),
    usedUp: (agentId) => budgets.used(agentId),
    report: (days) => reportOf({ rows, budgets, configs, directory, now }, days),
    replies: (messageIds) => rows.replies(messageIds),
    prices: prices.withVersion,
    most: async (size) => mostCost(size, await prices.read()),
    async expected(model, bytes, outputTokens = 0) {
      const count = { ...reading.expect(model, bytes), outputTokens };
      const { microUsd, estimated } = costOfTaken(
        { count, hourWrites: 0, searches: 0, terms: PLAIN_TERMS },
        await prices.read(),
      );
      return { tokens: inputOf({ count }), microUsd, estimated };
    },
    async expectedAgain(model, head, bytes) {
      const count = reading.expect(model, [bytes]);
      // What a second request finds of the first. 0: this provider does not cache.
      const { cacheReadTokens: headTokens } = reading.expect(model, [head, bytes]);
      const again = {
        ...count,
        cacheReadTokens: headTokens,
        cacheWriteTokens: Math.max(0, count.cacheWriteTokens - headTokens),
      };
      const table = await prices.read();
      const costOfReading = (read: TokenCount, hourWrites: number) =>
        costOfTaken({ count: read, hourWrites, searches: 0, terms: PLAIN_TERMS }, table).microUsd;
      return { firstMicroUsd: costOfReading(count, headTokens), againMicroUsd: costOfReading(again, 0) };
    },
    forgetPrices: () => prices.forget(),
    async setPrices(table, version) {
      const isSet = await prices.write(table, version);
      if (isSet) await changed(null);
      return isSet;
    },
    recover,
    close: () => reserves.settled(),
  };
}

// HTTP routes for tokens and money.

interface CostRoutesDeps {
  readonly costs: Omit<OpenCosts, 'check' | 'note'>;
  readonly host: { readonly sizeOfWake: SizeOfWake };
  readonly configs: Pick<Configs, 'agent'>;
  /** Costs of scheduled and woken runs since then, by schedule, most expensive first. */
  readonly schedules: { spentSince(from: number): Promise<CostSums['routines']> };
  readonly sizeOfRun: (asked: z.output<typeof askRunCostSchema>) => Promise<readonly WakeRequests[]>;
}

export function createCostRoutes({ costs, schedules, host, configs, sizeOfRun }: CostRoutesDeps): readonly Handled[] {
  async function currentPrices(): Promise<PricesAnswer> {
    const { prices, version } = await costs.prices();
    return { prices: [...prices], version };
  }
  async function readsOf(requests: readonly WakeRequests[]): Promise<WakeCost> {
    const reads = requests.map(async ({ agentId, model, bytes, head }) => {
      const { tokens, microUsd, estimated } = await costs.expected(model, bytes);
      const [whole] = bytes;
      const { mind } = (await configs.agent(agentId)).effective.coordination;
      return {
        agentId,
        requests: bytes.length,
        tokens,
        costMicroUsd: microUsd,
        estimated,
        program: mind !== null,
        ...(head === undefined || whole === undefined
          ? {}
          : { withinHour: await costs.expectedAgain(model, head, whole) }),
      };
    });
    return { reads: await Promise.all(reads) };
  }
  return answer(costEndpoints, {
    async costs({ days }) {
      const { from, sessionsRest, ...report } = await costs.report(days);
      const all = await schedules.spentSince(from);
      const others = all.slice(COST_LIMITS.routines);
      const sumOf = (figure: 'runs' | 'tokens' | 'costMicroUsd') => others.reduce((sum, one) => sum + one[figure], 0);
      const rest = {
        ...(others.length === 0
          ? {}
          : {
              routines: {
                count: others.length,
                runs: sumOf('runs'),
                tokens: sumOf('tokens'),
                costMicroUsd: sumOf('costMicroUsd'),
                estimated: others.some(({ estimated }) => estimated),
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
      return await readsOf(size.requests);
    },
    runCost: async ({ body }) => await readsOf(await sizeOfRun(body)),
    prices: currentPrices,
    async putPrices({ body }) {
      if (!(await costs.setPrices(body.prices, body.version))) throw changedElsewhere(await currentPrices());
      return await currentPrices();
    },
  });
}
