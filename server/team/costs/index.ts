/**
 * Tokens and money: every request to a model is a row, priced when it is written, and daily budgets
 * stop the next one before it is sent.
 */
import { newId as randomId } from '../../../src/shared/domain/platform/new-id.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { addCost, NO_COST, type Cost } from '../../../src/shared/domain/prices.ts';
import {
  costOfTaken,
  mostTaken,
  PLAIN_TERMS,
  type RequestSize,
  type Taken,
} from '../../../src/shared/domain/request-cost.ts';
import type { Price } from '../../../src/shared/protocol/costs.ts';
import type { Configs, CostRequest, Costs, Directory, EventLog, RequestEnd, Took } from '../../contracts/index.ts';
import { ALWAYS_THERE, enduring, type Database, type Db, type OpenJournal } from '../../store/index.ts';
import { createBudgets, createHolds, createReserves, type Room } from './budgets.ts';
import { createPriceTable, createReading, createUsageRows } from './usage-rows.ts';
import { reportOf, type Report } from './report.ts';
import { COST_LIMITS } from './settings.ts';

export interface CostDeps {
  readonly db: Db;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'untilThere'>;
  /**
   * For the embedded store: see `budgets.ts`. Null, or left out: what is held goes into the tables
   * at once.
   */
  readonly openJournal?: OpenJournal | null;
  /** Names the home: homes that share a store do not share a purse. */
  readonly home: string;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly log: Pick<EventLog, 'append'>;
  /**
   * No other process can have this store open, as with the embedded one: prices and what was spent
   * are read once.
   */
  readonly alone?: boolean;
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId?: () => string;
  /** ms that `check` waits for requests under way. */
  readonly waitMs?: number;
}

/**
 * `microUsd`: millionths of a dollar. `estimated`: by the price for models that the table does not
 * have.
 */
export interface Expected {
  readonly tokens: number;
  readonly microUsd: number;
  readonly estimated: boolean;
}

/** What the relay's calls ask for, beside what other parts do. */
export interface OpenCosts extends Costs {
  /** Counts a request that was held nowhere. */
  note(request: RequestEnd & { readonly agentId: AgentId; readonly took: NonNullable<Took> }): Promise<void>;
  report(days: number): Promise<Report>;
  /**
   * The budget of this agent, or of the household, that is used up, with when it opens again; null:
   * none is.
   */
  usedUp(agentId: AgentId): Promise<{ readonly message: string; readonly until: number } | null>;
  /** By reply; those that cost nothing that is known are left out. */
  replies(messageIds: readonly MessageId[]): Promise<ReadonlyMap<string, Cost>>;
  prices(): Promise<{ readonly prices: readonly Price[]; readonly version: number }>;
  /**
   * What reading requests of so many bytes would take: in order, each begins with all of the one
   * before it.
   */
  expected(model: string, bytes: readonly number[]): Promise<Expected>;
  /** They were changed in the store: what is remembered of them does not hold. */
  forgetPrices(): void;
  /**
   * An empty list brings Roost's own back. What was counted before keeps its price. False: the
   * table is not at the `version` that is named, and nothing was changed.
   */
  setPrices(prices: readonly Price[], version?: number): Promise<boolean>;
  /**
   * Charges what a process that was killed had under way. Before anything is sent; what is sent
   * without it begins with it.
   */
  recover(): Promise<void>;
  /** Resolves when everything that ended is written as such. */
  close(): Promise<void>;
}

/** Whole and not negative, whatever a model says. */
const NOTHING = { model: '', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const whole = (count: number) =>
  Number.isFinite(count) && count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0;

const inputOf = ({ count }: Pick<Taken, 'count'>) => count.inputTokens + count.cacheReadTokens + count.cacheWriteTokens;

/** What a request took: as it was told, and where it was not, the most that it may have been. */
function takenOf(took: Took, size: RequestSize | null): Taken {
  const most = size && mostTaken(size);
  if (took === null) return most ?? { count: NOTHING, hourWrites: 0, searches: 0, terms: PLAIN_TERMS };
  const { usage, hourCacheWrites = 0, searches = 0, terms = {}, untold = { input: false, output: false } } = took;
  // Not even its tier is known then.
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
  // What the server looked up by itself is told at the end.
  if (!ends && most && size.openEnded) count.inputTokens += Math.max(0, inputOf(most) - inputOf({ count }));
  return {
    count,
    hourWrites: most && untold.input ? most.hourWrites : whole(hourCacheWrites),
    searches: ends ? whole(searches) : Math.max(whole(searches), most?.searches ?? 0),
    // What was asked for and not denied holds; of the tier only the answer knows.
    terms: {
      ...(size?.terms ?? PLAIN_TERMS),
      ...(untold.input && untold.output ? {} : { priority: false }),
      ...terms,
    },
  };
}

/** One request under way. */
interface Held {
  /** Resolves with what it cost. */
  settle(end: RequestEnd): Promise<Cost>;
  release(): void;
}

const viaOf = ({ credentialId }: CostRequest) => (credentialId === undefined ? 'session' : 'proxy');

interface Counted {
  readonly agentId: AgentId;
  /** Null: it is not known. */
  readonly size: RequestSize | null;
  readonly usedAt: number;
  readonly reserve: string | null;
}

export function createCosts({
  db,
  database = ALWAYS_THERE,
  openJournal = null,
  home,
  configs,
  directory,
  log,
  alone = false,
  now,
  elapsed = now,
  newId = randomId,
  waitMs = COST_LIMITS.waitMs,
}: CostDeps): OpenCosts {
  const rows = createUsageRows({ db, database, home, alone, elapsed });
  const prices = createPriceTable(db, home, alone);
  const budgets = createBudgets({ rows, prices, holds: createHolds(), configs, directory, now, elapsed, waitMs });
  /**
   * By agent: an event that waits for the one before it to be on disk. What ends meanwhile is told
   * by the same one.
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
  const reserves = createReserves({ db, home, openJournal, elapsed });
  let recovered: Promise<void> | null = null;

  async function count(
    { agentId, size, usedAt, reserve }: Counted,
    { sessionId, messageId, via, took }: RequestEnd,
  ): Promise<Cost> {
    const taken = takenOf(took, size);
    const reported = took?.reportedMicroUsd;
    const cost =
      reported === undefined
        ? costOfTaken(taken, await enduring(database, prices.read))
        : { microUsd: whole(reported), estimated: true };
    const known = took?.whole === true && took.untold?.input !== true && took.untold?.output !== true;
    if (known && size?.pictures === 0 && taken.searches === 0) reading.learn(size.model, size.bytes, taken.count);
    const estimated = cost.estimated || !known;
    const costMicroUsd = Math.min(cost.microUsd, COST_LIMITS.requestMicroUsd);
    const spent = { ...taken.count, costMicroUsd, estimated };
    await rows.add({ usedAt, agentId, sessionId, messageId, via, ...spent, reserve: reserve ?? newId() });
    await changed(agentId);
    return { costMicroUsd, estimated };
  }

  /** Room for one request, and its reserve on disk. */
  async function hold(
    request: CostRequest,
    signal: AbortSignal | undefined,
    patient: boolean,
  ): Promise<{ readonly ok: true; readonly held: Held } | Extract<Room, { ok: false }>> {
    const room = await budgets.check(request, signal, patient);
    if (!room.ok) return room;
    const { agentId, size, sessionId = null, messageId = null } = request;
    // What costs nothing need not outlive this process.
    const reserve = room.most > 0 && request.rehearsed !== true ? newId() : null;
    const over = () => {
      if (reserve !== null) reserves.over(reserve);
    };
    const release = () => {
      over();
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
            const spent = await count({ agentId, size, usedAt: now(), reserve }, end);
            // What could not be written stays, to be charged at the next start.
            over();
            return spent;
          } finally {
            // It is no longer held, and whoever settles is told.
            room.release();
          }
        },
      },
    };
  }

  const recover = () =>
    (recovered ??= reserves.recover(async (left) => {
      const known = await rows.settled(left.map(({ reserve }) => reserve));
      for (const { reserve, takenAt, agentId, size, ...what } of left)
        if (!known.has(reserve)) await count({ agentId, size, usedAt: takenAt, reserve }, { ...what, took: null });
    }));

  return {
    async check(request, signal) {
      await recover();
      const first = await hold(request, signal, true);
      if (!first.ok) return first;
      const { sessionId = null, messageId = null } = request;
      /** Null: it is over. */
      let held: Held | null = first.held;
      let spent = NO_COST;
      const take = () => {
        const mine = held;
        held = null;
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
            if (next.ok) held = next.held;
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
    async expected(model, bytes) {
      const count = reading.expect(model, bytes);
      const { microUsd, estimated } = costOfTaken(
        { count, hourWrites: 0, searches: 0, terms: PLAIN_TERMS },
        await prices.read(),
      );
      return { tokens: inputOf({ count }), microUsd, estimated };
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
