/** Tokens and money: every request to a model is a row, priced when it is written, and daily budgets stop the next one before it is sent. */
import { costOf } from '../../src/domain/prices.ts';
import type { Costs as Report, Price } from '../../src/protocol/costs.ts';
import type { Configs, Costs, Directory, EventLog } from '../contracts.ts';
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
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  /** ms that `check` waits for requests under way. */
  readonly waitMs?: number;
}

/** What the relay's calls ask for, beside what other parts do. */
export interface CostBook extends Costs {
  report(days: number): Promise<Report>;
  /** By reply; those that cost nothing that is known are left out. */
  replies(messageIds: readonly string[]): Promise<ReadonlyMap<string, { readonly costMicroUsd: number; readonly estimated: boolean }>>;
  prices(): Promise<readonly Price[]>;
  /** An empty list brings Roost's own back. What was counted before keeps its price. */
  setPrices(prices: readonly Price[]): Promise<void>;
}

/** Whole and not negative, whatever a model says. */
const whole = (count: number) => (Number.isFinite(count) && count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0);

export function createCosts({ db, relay, configs, directory, log, now, elapsed = now, waitMs = COST_LIMITS.waitMs }: CostDeps): CostBook {
  const rows = createUsageRows(db, relay);
  const prices = createPriceTable(db, relay);
  const budgets = createBudgets({ rows, holds: createHolds(), configs, directory, now, elapsed, waitMs });
  const changed = (agentId: string | null) => log.append([{ kind: 'changed', time: now(), what: 'costs', agentId }]);

  return {
    check: (agentId, signal) => budgets.check(agentId, signal),
    async note({ agentId, sessionId, messageId, via, usage, hourCacheWrites = 0, estimated = false }) {
      const count = {
        model: usage.model,
        inputTokens: whole(usage.inputTokens),
        outputTokens: whole(usage.outputTokens),
        cacheReadTokens: whole(usage.cacheReadTokens),
        cacheWriteTokens: whole(usage.cacheWriteTokens),
      };
      const cost = costOf(count, await prices.read(), whole(hourCacheWrites));
      await rows.add({ usedAt: now(), agentId, sessionId, messageId, via, ...count, costMicroUsd: cost.microUsd, estimated: estimated || cost.estimated });
      budgets.learn(cost.microUsd);
      await changed(agentId);
    },
    report: (days) => reportOf({ rows, budgets, configs, directory, now }, days),
    replies: (messageIds) => rows.replies(messageIds),
    prices: () => prices.read(),
    async setPrices(table) {
      await prices.write(table);
      await changed(null);
    },
  };
}
