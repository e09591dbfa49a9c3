/** The rows of the table `usage`, read as sums, and their money by quarters of an hour. */
import { sql } from 'kysely';
import type { Spent } from '../../src/protocol/costs.ts';
import { parseText, type Db } from '../store/index.ts';

const QUARTER_MS = 900_000;

export interface UsageRow {
  readonly usedAt: number;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly messageId: string | null;
  readonly via: 'session' | 'proxy';
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicroUsd: number;
  readonly estimated: boolean;
}

/** What one agent spent in one session on one day; `day` counts up from the first boundary, from 0. */
export interface UsageGroup {
  readonly day: number;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly lastAt: number;
  readonly spent: Spent;
}

const total = (column: string) => sql<number>`sum(${sql.ref(column)})::bigint`;

export function createUsageRows(db: Db, relay: string) {
  return {
    async add(row: UsageRow): Promise<void> {
      const agent_json = JSON.stringify(row.agentId);
      // One statement, so that both are written or neither.
      await db
        .with('added', (cte) =>
          cte
            .insertInto('usage')
            .values({
              relay,
              used_at: row.usedAt,
              agent_json,
              session_json: row.sessionId === null ? null : JSON.stringify(row.sessionId),
              message_json: row.messageId === null ? null : JSON.stringify(row.messageId),
              via: row.via,
              model_json: JSON.stringify(row.model),
              input_tokens: row.inputTokens,
              output_tokens: row.outputTokens,
              cache_read_tokens: row.cacheReadTokens,
              cache_write_tokens: row.cacheWriteTokens,
              cost_micro_usd: row.costMicroUsd,
              estimated: row.estimated,
            })
            .returning('place'),
        )
        .insertInto('spending')
        .values({ relay, quarter: Math.floor(row.usedAt / QUARTER_MS), agent_json, cost_micro_usd: row.costMicroUsd })
        .onConflict((conflict) =>
          conflict.columns(['relay', 'quarter', 'agent_json']).doUpdateSet((eb) => ({ cost_micro_usd: eb('spending.cost_micro_usd', '+', eb.ref('excluded.cost_micro_usd')) })),
        )
        .execute();
    },
    /** Money by agent since a day began, the largest first. */
    async byAgent(dayStart: number): Promise<readonly { readonly agentId: string; readonly microUsd: number }[]> {
      const rows = await db
        .selectFrom('spending')
        .select(['agent_json', total('cost_micro_usd').as('micro_usd')])
        .where('relay', '=', relay)
        .where('quarter', '>=', Math.floor(dayStart / QUARTER_MS))
        .groupBy('agent_json')
        .orderBy('micro_usd', 'desc')
        .execute();
      return rows.map((row) => ({ agentId: parseText(row.agent_json), microUsd: row.micro_usd }));
    },
    /** `starts`: the days' beginnings, oldest first. */
    async groups(starts: readonly number[]): Promise<readonly UsageGroup[]> {
      const [first = 0] = starts;
      const day = sql<number>`width_bucket(${sql.ref('used_at')}, ${starts}::bigint[]) - 1`;
      const rows = await db
        .selectFrom('usage')
        .select([day.as('day'), 'agent_json', 'session_json', sql<number>`max(used_at)`.as('last_at'), sql<number>`count(*)`.as('requests')])
        .select([total('input_tokens').as('input'), total('output_tokens').as('output'), total('cache_read_tokens').as('cache_read')])
        .select([total('cache_write_tokens').as('cache_write'), total('cost_micro_usd').as('cost'), sql<boolean>`bool_or(estimated)`.as('estimated')])
        .where('relay', '=', relay)
        .where('used_at', '>=', first)
        .groupBy(['day', 'agent_json', 'session_json'])
        .execute();
      return rows.map((row) => ({
        day: row.day,
        agentId: parseText(row.agent_json),
        sessionId: row.session_json === null ? null : parseText(row.session_json),
        lastAt: row.last_at,
        spent: {
          requests: row.requests,
          inputTokens: row.input,
          outputTokens: row.output,
          cacheReadTokens: row.cache_read,
          cacheWriteTokens: row.cache_write,
          costMicroUsd: row.cost,
          estimated: row.estimated,
        },
      }));
    },
    /** What the requests for these replies cost together; replies without any are left out. */
    async replies(messageIds: readonly string[]): Promise<ReadonlyMap<string, { readonly costMicroUsd: number; readonly estimated: boolean }>> {
      const rows = await db
        .selectFrom('usage')
        .select(['message_json', total('cost_micro_usd').as('cost'), sql<boolean>`bool_or(estimated)`.as('estimated')])
        .where('relay', '=', relay)
        .where('message_json', '=', sql<string>`any(${messageIds.map((id) => JSON.stringify(id))}::text[])`)
        .groupBy('message_json')
        .execute();
      return new Map(rows.flatMap((row) => (row.message_json === null ? [] : [[parseText(row.message_json), { costMicroUsd: row.cost, estimated: row.estimated }] as const])));
    },
  };
}
export type UsageRows = ReturnType<typeof createUsageRows>;
