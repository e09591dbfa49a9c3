/**
 * The tables `usage` and `spending`, and the price table. `usage` has a row per request. `spending`
 * has the money per agent and quarter of an hour.
 */
import { sql, type SqlBool } from 'kysely';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import {
  type Cost,
  DEFAULT_PRICES,
  inputOf,
  REHEARSAL_MODEL,
  type TokenCount,
} from '../../../src/shared/domain/prices.ts';
import { type Price, pricesSchema, type Spent } from '../../../src/shared/protocol/costs.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { anyTrue, bucketOf, cappedSum, isOneOf } from '../../store/dialect.ts';
import { type Database, type Db, enduring, type HomeStore, parseText, runTogether } from '../../store/index.ts';
import { PRICES_SCOPE, writeConfig } from '../gate/index.ts';
import { createCommits } from '../../log/commits.ts';
import { COST_LIMITS } from './settings.ts';

// The price table: the person's if they have set one, otherwise Roost's own.

interface VersionedPrices {
  readonly prices: readonly Price[];
  readonly version: number;
}

/** `alone`: no other process can have this store open. */
export function createPriceTable(db: Db, home: string, alone = false) {
  async function fromStore(): Promise<VersionedPrices> {
    const row = await db
      .selectFrom('configs')
      .select(['config_json', 'version'])
      .where('home', '=', home)
      .where('scope', '=', PRICES_SCOPE)
      .executeTakeFirst();
    const { prices } = row ? pricesSchema.parse(JSON.parse(row.config_json)) : { prices: [] };
    return { prices: prices.length === 0 ? DEFAULT_PRICES : prices, version: row?.version ?? 0 };
  }
  /** Read once if no other process can change it. */
  const loadedVersion = keepLoaded(fromStore);

  const withVersion = alone ? loadedVersion.get : fromStore;

  return {
    withVersion,
    read: async (): Promise<readonly Price[]> => (await withVersion()).prices,
    /**
     * Sets the prices. An empty list restores Roost's own. False: the table has another version
     * than `version`, and nothing was written.
     */
    async write(prices: readonly Price[], version?: number): Promise<boolean> {
      try {
        return await writeConfig(db, { home, scope: PRICES_SCOPE, config_json: JSON.stringify({ prices }) }, version);
      } finally {
        // Also drops a value that was read during the write.
        loadedVersion.forget();
      }
    },
    /** The prices were changed in the store. */
    forget: loadedVersion.forget,
  };
}
export type PriceTable = ReturnType<typeof createPriceTable>;

// Estimates the tokens of a request from its bytes. Each provider counts in its own way, so earlier
// counts for the model are used. Until there are some, a default applies.

interface Known {
  /** Bytes per token of the latest requests. */
  readonly densities: number[];
  /** Whether the provider caches prompts. */
  caches: boolean;
}

interface Reading {
  /**
   * Learns from a counted request. `bytes`: its size, without pictures. Implausible counts are
   * ignored.
   */
  learn(model: string, bytes: number, count: TokenCount): void;
  /** Estimates requests in order. Each begins with the whole previous one. */
  expect(model: string, bytes: readonly number[]): TokenCount;
}

const middleOf = (values: readonly number[]): number | undefined =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export function createReading(): Reading {
  const models = new Map<string, Known>();

  return {
    learn(model, bytes, count) {
      const density = bytes / inputOf(count);
      const { bytesPerTokenLeast: least, bytesPerTokenMost: most, modelsKnown, densitiesKept } = COST_LIMITS;
      if (!(density >= least && density <= most)) return;
      const known = models.get(model) ?? { densities: [], caches: false };
      known.densities.push(density);
      if (known.densities.length > densitiesKept) known.densities.shift();
      known.caches = count.cacheReadTokens + count.cacheWriteTokens > 0;
      models.set(model, known);
      for (const oldest of models.keys()) {
        if (models.size <= modelsKnown) break;
        models.delete(oldest);
      }
    },
    expect(model, bytes) {
      const measured = models.get(model);
      const density = middleOf(measured?.densities ?? []) ?? COST_LIMITS.bytesPerToken;
      const caches = measured?.caches ?? true;
      let [inputTokens, cacheReadTokens, cacheWriteTokens, before] = [0, 0, 0, 0];
      for (const each of bytes) {
        const tokens = Math.ceil(each / density);
        if (caches) {
          cacheReadTokens += Math.min(before, tokens);
          cacheWriteTokens += Math.max(0, tokens - before);
        } else inputTokens += tokens;
        before = tokens;
      }
      return { model, inputTokens, outputTokens: 0, cacheReadTokens, cacheWriteTokens };
    },
  };
}

const QUARTER_MS = 900_000;

interface UsageRow {
  readonly usedAt: number;
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly messageId: MessageId | null;
  readonly via: 'session' | 'proxy';
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicroUsd: number;
  readonly estimated: boolean;
  /** Id of the reserve, or a unique id. Each request is counted once. */
  readonly reserve: string;
}

/**
 * What one agent spent in one session on one day. `day`: index of the day, from 0. Tokens of the
 * demo are a group of their own.
 */
export interface UsageGroup {
  readonly day: number;
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly lastAt: number;
  readonly rehearsed: boolean;
  readonly spent: Spent;
}

interface UsageRowsDeps extends HomeStore {
  readonly database: Pick<Database, 'untilThere'>;
  /** No other process can have this store open, so spending that was read once stays known. */
  readonly alone: boolean;
  /** Monotonic time in ms. */
  readonly elapsed: () => number;
}

type Spending = readonly { readonly agentId: AgentId; readonly microUsd: number }[];

const quarterOf = (time: number) => Math.floor(time / QUARTER_MS);
const textOrNull = (id: string | null) => (id === null ? null : JSON.stringify(id));

/** Without those that an earlier `insert` wrote before its answer was lost. */
async function withoutCounted(db: Db, home: string, rows: readonly UsageRow[]): Promise<readonly UsageRow[]> {
  const countedRows = await db
    .selectFrom('usage')
    .select(['used_at', 'reserve'])
    .where('home', '=', home)
    .where(
      isOneOf(
        'used_at',
        rows.map(({ usedAt }) => usedAt),
      ),
    )
    .where('reserve', 'is not', null)
    .execute();
  const keyOf = (usedAt: number, reserve: string | null) => `${usedAt} ${reserve ?? ''}`;
  const counted = new Set(countedRows.map(({ used_at, reserve }) => keyOf(used_at, reserve)));
  return rows.filter(({ usedAt, reserve }) => !counted.has(keyOf(usedAt, reserve)));
}

/**
 * Inserts all rows in one transaction, so that all or none are written. Requests that end
 * together share it.
 */
async function insert(db: Db, home: string, rows: readonly UsageRow[]): Promise<void> {
  const usage = db.insertInto('usage').values(
    rows.map((row) => ({
      home,
      used_at: row.usedAt,
      agent_json: JSON.stringify(row.agentId),
      session_json: textOrNull(row.sessionId),
      message_json: textOrNull(row.messageId),
      via: row.via,
      model_json: JSON.stringify(row.model),
      input_tokens: row.inputTokens,
      output_tokens: row.outputTokens,
      cache_read_tokens: row.cacheReadTokens,
      cache_write_tokens: row.cacheWriteTokens,
      cost_micro_usd: row.costMicroUsd,
      estimated: row.estimated,
      reserve: row.reserve,
    })),
  );
  /** One for each agent and quarter: a statement may change a row once. */
  const sums = new Map<string, { home: string; quarter: number; agent_json: string; cost_micro_usd: number }>();
  for (const { usedAt, agentId, costMicroUsd } of rows) {
    const [quarter, agent] = [quarterOf(usedAt), JSON.stringify(agentId)];
    const before = sums.get(`${quarter} ${agent}`)?.cost_micro_usd ?? 0;
    const cost = Math.min(before + costMicroUsd, Number.MAX_SAFE_INTEGER);
    sums.set(`${quarter} ${agent}`, { home, quarter, agent_json: agent, cost_micro_usd: cost });
  }
  const spending = db
    .insertInto('spending')
    .values([...sums.values()])
    .onConflict((conflict) =>
      conflict.columns(['home', 'quarter', 'agent_json']).doUpdateSet((eb) => ({
        cost_micro_usd: eb('spending.cost_micro_usd', '+', eb.ref('excluded.cost_micro_usd')),
      })),
    );
  // A counted request needs no reserve. With one commit for both, the next request waits less.
  const reserves = db
    .deleteFrom('reserves')
    .where('home', '=', home)
    .where(
      isOneOf(
        'reserve',
        rows.flatMap(({ reserve }) => reserve ?? []),
      ),
    );
  await runTogether(db, [usage, spending, reserves]);
}

export function createUsageRows({ db, database, home, alone, elapsed }: UsageRowsDeps) {
  /** Money by agent since this quarter of an hour. */
  let spendingSums: { readonly from: number; readonly sums: Map<string, number> } | null = null;
  /**
   * Incremented when a write begins and ends. Odd: a write is under way. A sum that was read during
   * a write is not cached.
   */
  let turn = 0;

  const commits = createCommits<UsageRow, true>({
    windowMs: 0,
    elapsed,
    async commit(rows) {
      turn += 1;
      try {
        let left = rows;
        let isRepeated = false;
        await enduring(database, async () => {
          if (isRepeated) left = await withoutCounted(db, home, rows);
          isRepeated = true;
          if (left.length > 0) await insert(db, home, left);
        });
        for (const { usedAt, agentId, costMicroUsd } of rows)
          if (spendingSums && quarterOf(usedAt) >= spendingSums.from)
            spendingSums.sums.set(agentId, (spendingSums.sums.get(agentId) ?? 0) + costMicroUsd);
      } catch (error) {
        // The rows may have reached the disk all the same.
        spendingSums = null;
        throw error;
      } finally {
        turn += 1;
      }
      return rows.map(() => true);
    },
  });

  async function readSpending(from: number): Promise<Spending> {
    const began = turn;
    const rows = await db
      .selectFrom('spending')
      .select(['agent_json', cappedSum('cost_micro_usd').as('micro_usd')])
      .where('home', '=', home)
      .where('quarter', '>=', from)
      .groupBy('agent_json')
      .orderBy('micro_usd', 'desc')
      .execute();
    const spending = rows.map((row) => ({ agentId: parseText(row.agent_json), microUsd: row.micro_usd }));
    if (alone && began === turn && turn % 2 === 0)
      spendingSums = { from, sums: new Map(spending.map(({ agentId, microUsd }) => [agentId, microUsd])) };
    return spending;
  }

  return {
    /**
     * Resolves when the row is on disk. It is written once, and an unreachable database is waited
     * for.
     */
    add: async (row: UsageRow): Promise<void> => void (await commits.add(row, false)),
    /** Those of the reserves whose requests are already counted. */
    async settled(reserves: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('usage')
        .select('reserve')
        .distinct()
        .where('home', '=', home)
        .where(isOneOf('reserve', reserves))
        .execute();
      return new Set(rows.flatMap(({ reserve }) => (reserve === null ? [] : [reserve])));
    },
    /** Money by agent since the start of the day, largest first. */
    async byAgent(dayStart: number): Promise<Spending> {
      const from = quarterOf(dayStart);
      if (spendingSums?.from !== from) return await readSpending(from);
      return [...spendingSums.sums]
        .map(([agentId, microUsd]) => ({ agentId, microUsd }))
        .sort((a, b) => b.microUsd - a.microUsd);
    },
    /** `starts`: start of each day, oldest first. */
    async groups(starts: readonly number[]): Promise<readonly UsageGroup[]> {
      const [first = 0] = starts;
      const rehearsed = sql<SqlBool>`model_json = ${JSON.stringify(REHEARSAL_MODEL)}`;
      const day = sql<number>`${bucketOf('used_at', starts)} - 1`;
      const rows = await db
        .selectFrom('usage')
        .select([
          day.as('day'),
          rehearsed.as('rehearsed'),
          'agent_json',
          'session_json',
          sql<number>`max(used_at)`.as('last_at'),
          sql<number>`count(*)`.as('requests'),
        ])
        .select([
          cappedSum('input_tokens').as('input'),
          cappedSum('output_tokens').as('output'),
          cappedSum('cache_read_tokens').as('cache_read'),
        ])
        .select([
          cappedSum('cache_write_tokens').as('cache_write'),
          cappedSum('cost_micro_usd').as('cost'),
          anyTrue(sql.ref('estimated')).as('estimated'),
        ])
        .where('home', '=', home)
        .where('used_at', '>=', first)
        .groupBy(['day', 'rehearsed', 'agent_json', 'session_json'])
        .execute();
      return rows.map((row) => ({
        day: row.day,
        agentId: parseText(row.agent_json),
        sessionId: row.session_json === null ? null : parseText(row.session_json),
        lastAt: row.last_at,
        rehearsed: Boolean(row.rehearsed),
        spent: {
          requests: row.requests,
          inputTokens: row.input,
          outputTokens: row.output,
          cacheReadTokens: row.cache_read,
          cacheWriteTokens: row.cache_write,
          costMicroUsd: row.cost,
          estimated: Boolean(row.estimated),
        },
      }));
    },
    /** Cost of all requests for each reply. Replies without requests are left out. */
    async replies(messageIds: readonly MessageId[]): Promise<ReadonlyMap<string, Cost>> {
      const rows = await db
        .selectFrom('usage')
        .select(['message_json', cappedSum('cost_micro_usd').as('cost'), anyTrue(sql.ref('estimated')).as('estimated')])
        .where('home', '=', home)
        .where(
          isOneOf(
            'message_json',
            messageIds.map((id) => JSON.stringify(id)),
          ),
        )
        .groupBy('message_json')
        .execute();
      return new Map(
        rows.flatMap((row) =>
          row.message_json === null
            ? []
            : [[parseText(row.message_json), { costMicroUsd: row.cost, estimated: Boolean(row.estimated) }] as const],
        ),
      );
    },
  };
}
export type UsageRows = ReturnType<typeof createUsageRows>;
