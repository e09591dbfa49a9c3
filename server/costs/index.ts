/** Tokens and money: every request to a model is a row, priced when it is written, and daily budgets stop the next one before it is sent. */
import { costOfTaken, mostTaken, PLAIN_TERMS, type RequestSize, type Taken } from '../../src/domain/request-cost.ts';
import type { Costs as Report, Price } from '../../src/protocol/costs.ts';
import type { Configs, Costs, Directory, EventLog, RequestEnd, Took } from '../contracts.ts';
import type { Db } from '../store/index.ts';
import { createBudgets } from './budgets.ts';
import { createHolds } from './holds.ts';
import { createPriceTable } from './price-table.ts';
import { reportOf } from './report.ts';
import { COST_LIMITS } from './settings.ts';
import { createUsageRows } from './usage-rows.ts';

export { createCostRoutes } from './routes.ts';

export interface CostDeps {
  readonly db: Db;
  /** Names the home: homes that share a store do not share a purse. */
  readonly relay: string;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly log: Pick<EventLog, 'append'>;
  /** No other process can have this store open, as with the embedded one: prices and what was spent are read once. */
  readonly alone?: boolean;
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  /** ms that `check` waits for requests under way. */
  readonly waitMs?: number;
}

/** What the relay's calls ask for, beside what other parts do. */
export interface CostBook extends Costs {
  /** Counts a request that was held nowhere. */
  note(request: RequestEnd & { readonly agentId: string; readonly took: NonNullable<Took> }): Promise<void>;
  report(days: number): Promise<Report>;
  /** By reply; those that cost nothing that is known are left out. */
  replies(
    messageIds: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly costMicroUsd: number; readonly estimated: boolean }>>;
  prices(): Promise<readonly Price[]>;
  /** They were changed in the store: what is remembered of them does not hold. */
  forgetPrices(): void;
  /** An empty list brings Roost's own back. What was counted before keeps its price. */
  setPrices(prices: readonly Price[]): Promise<void>;
}

/** Whole and not negative, whatever a model says. */
const NOTHING = { model: '', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const whole = (count: number) =>
  Number.isFinite(count) && count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0;

/** What a request took: as it was told, and where it was not, the most that it may have been. */
function takenOf(took: Took, size: RequestSize | null): Taken {
  const most = size && mostTaken(size);
  if (took === null) return most ?? { count: NOTHING, hourWrites: 0, searches: 0, terms: PLAIN_TERMS };
  const { usage, hourCacheWrites = 0, searches = 0, terms = PLAIN_TERMS } = took;
  const written = whole(usage.outputTokens);
  const count = {
    model: usage.model,
    inputTokens: whole(usage.inputTokens),
    outputTokens: took.whole ? written : Math.max(written, most?.count.outputTokens ?? 0),
    cacheReadTokens: whole(usage.cacheReadTokens),
    cacheWriteTokens: whole(usage.cacheWriteTokens),
  };
  return {
    count,
    hourWrites: whole(hourCacheWrites),
    searches: took.whole ? whole(searches) : Math.max(whole(searches), most?.searches ?? 0),
    terms,
  };
}

export function createCosts({
  db,
  relay,
  configs,
  directory,
  log,
  alone = false,
  now,
  elapsed = now,
  waitMs = COST_LIMITS.waitMs,
}: CostDeps): CostBook {
  const rows = createUsageRows({ db, relay, alone, elapsed });
  const prices = createPriceTable(db, relay, alone);
  const budgets = createBudgets({ rows, prices, holds: createHolds(), configs, directory, now, elapsed, waitMs });
  /** By agent: an event that waits for the one before it to be on disk. What ends meanwhile is told by the same one. */
  const telling = new Map<string | null, { readonly now: Promise<unknown>; next: Promise<unknown> | null }>();
  function changed(agentId: string | null): Promise<unknown> {
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

  async function settle(
    agentId: string,
    size: RequestSize | null,
    { sessionId, messageId, via, took, lost = 0 }: RequestEnd,
  ): Promise<void> {
    const table = await prices.read();
    for (const each of [took, ...Array.from({ length: lost }, () => null)]) {
      const taken = takenOf(each, size);
      const cost = costOfTaken(taken, table);
      await rows.add({
        usedAt: now(),
        agentId,
        sessionId,
        messageId,
        via,
        ...taken.count,
        costMicroUsd: cost.microUsd,
        estimated: cost.estimated || each?.whole !== true,
      });
    }
    await changed(agentId);
  }

  return {
    async check(request, signal) {
      const room = await budgets.check(request, signal);
      if (!room.ok) return room;
      let over = false;
      return {
        ok: true,
        hold: {
          async settle(end) {
            if (over) return;
            over = true;
            // What could not be written is no longer held, and whoever settles is told.
            await settle(request.agentId, request.size, end).finally(room.release);
          },
          release() {
            over = true;
            room.release();
          },
        },
      };
    },
    note: ({ agentId, ...end }) => settle(agentId, null, end),
    report: (days) => reportOf({ rows, budgets, configs, directory, now }, days),
    replies: (messageIds) => rows.replies(messageIds),
    prices: () => prices.read(),
    forgetPrices: () => prices.forget(),
    async setPrices(table) {
      await prices.write(table);
      await changed(null);
    },
  };
}
