/** Tokens and money on the wire. Money is in whole millionths of a US dollar. */
import { z } from 'zod';
import type { ScheduleId } from '../domain/ids.ts';
import { PRICE_STEP_MOST } from '../domain/prices.ts';
import { common } from './documents.ts';
import { occurrenceSchema, routineSchema } from './schedules.ts';
import { startSessionSchema } from './http.ts';
import { idOf, LIMITS } from './limits.ts';
import { agentSnapshotSchema } from './snapshots.ts';
import { namedVersionSchema, versionSchema } from './version.ts';

const count = z.number().int().nonnegative();
const usd = z.number().min(0).max(10_000);

/**
 * US dollars per million tokens. `model` is a prefix of a model's name. The longest match wins, and
 * `*` matches every model.
 */
const priceSchema = z.strictObject({
  model: z.string().min(1).max(200),
  above: z
    .number()
    .int()
    .min(1)
    .max(PRICE_STEP_MOST)
    .optional()
    .describe('the price applies to requests that read more tokens than this; left out: to all'),
  input: usd,
  output: usd,
  cacheRead: usd,
  cacheWrite: usd,
});
export type Price = z.infer<typeof priceSchema>;
/** The price table, as its record has it. */
export const pricesSchema = z.strictObject({
  prices: z
    .array(priceSchema)
    .max(200)
    .refine(
      (prices) => new Set(prices.map(({ model, above = 0 }) => `${above} ${model}`)).size === prices.length,
      'a model may be named once for each number of tokens',
    ),
});
/** What `GET` and `PUT /api/prices` answer. */
export const pricesAnswerSchema = pricesSchema.extend({ version: versionSchema });
export type PricesAnswer = z.infer<typeof pricesAnswerSchema>;
/** `PUT /api/prices`. An empty list restores Roost’s own prices. */
export const setPricesSchema = pricesSchema.extend({ version: namedVersionSchema });

const spentSchema = z.object({
  requests: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  costMicroUsd: count,
  estimated: z
    .boolean()
    .describe(
      'some of the cost was counted by the price of `*`, because the model has no row of its own; or it is an upper bound, because an answer was cut before its model reported what it used',
    ),
});
export type Spent = z.infer<typeof spentSchema>;

/** Entries that are not listed one by one. */
const restSchema = z.object({ count: count.describe('number of entries') });

/**
 * `GET /api/costs?days=1..90`: by day of the household's zone, newest first, and by agent and
 * session.
 */
export const costsSchema = z.object({
  today: spentSchema,
  dailyBudgetUsd: z.number().nullable(),
  days: z.array(z.object({ day: z.string().describe('YYYY-MM-DD'), spent: spentSchema })),
  agents: z
    .array(
      z.object({
        agentId: common.agentId,
        today: spentSchema,
        total: spentSchema,
        dailyBudgetUsd: z.number().nullable(),
      }),
    )
    .describe('`total` is over these days'),
  routines: z
    .array(
      z.object({
        scheduleId: idOf<ScheduleId>(z.string()),
        agentId: common.agentId,
        name: z
          .string()
          .nullable()
          .describe('null: somebody woke the agent and nothing was due, or the schedule no longer exists'),
        kind: occurrenceSchema.shape.kind,
        runs: count,
        tokens: count,
        costMicroUsd: count,
        estimated: z.boolean(),
      }),
    )
    .describe('what runs without the person used over these days, by schedule, most expensive first, at most 50'),
  sessions: z
    .array(
      z.object({
        sessionId: common.sessionId,
        lastAt: common.time.describe('time of the session’s last request'),
        spent: spentSchema,
      }),
    )
    .describe('newest first, at most 50'),
  rest: z
    .object({
      routines: restSchema.extend({ runs: count, tokens: count, costMicroUsd: count, estimated: z.boolean() }),
      sessions: restSchema.extend({ spent: spentSchema }),
    })
    .partial()
    .optional()
    .describe('entries of these days that are not in `routines` and `sessions`; left out: none'),
  stopped: z
    .array(
      z.object({
        scope: z.enum(['household', 'agent']),
        agentId: common.agentId.nullable(),
        message: z.string(),
        until: common.time,
      }),
    )
    .describe('budgets that are used up now'),
});
export type Costs = z.infer<typeof costsSchema>;

/** `GET /api/costs/replies?ids=…` (comma-separated, at most 100): what replies cost. */
export const replyCostsSchema = z.object({
  replies: z.record(z.string(), z.object({ costMicroUsd: count, estimated: z.boolean() })),
});

/** `POST /api/costs/wake`: the cost of what a wake would send. */
export const askWakeCostSchema = z.strictObject({
  start: startSessionSchema.describe('as `startSession` takes it; ignored while a session runs'),
  text: z.string().max(LIMITS.teamCallText).describe('the whole call, with `[WAKE AGENTS]`'),
});
/** `POST /api/costs/run`: the cost of the first request of each run of a routine. */
export const askRunCostSchema = z.strictObject({
  snapshot: agentSnapshotSchema.describe('the agent, as `storeAgentSnapshot` takes it'),
  routine: routineSchema,
});
const repeatedCostSchema = z.object({
  firstMicroUsd: count.describe('cost of a run that fills the cache for an hour'),
  againMicroUsd: count.describe('cost of a run less than an hour after another'),
});
export type RepeatedCost = z.infer<typeof repeatedCostSchema>;
/** The answer to both. */
export const wakeCostSchema = z.object({
  reads: z
    .array(
      z.object({
        agentId: common.agentId,
        requests: count.describe('requests that would be sent for this agent'),
        tokens: count.describe('tokens that these requests would read, with tools and system prompts'),
        costMicroUsd: count.describe('cost of those tokens; answers cost extra'),
        estimated: z.boolean().describe('counted by the price of `*`, because the model has no row of its own'),
        program: z.boolean().describe('an ACP agent answers, which counts in its own way'),
        withinHour: repeatedCostSchema
          .optional()
          .describe('of a run of a routine that runs again within the hour, whose tools and system prompt are cached'),
      }),
    )
    .describe('of a wake: the lead, and each agent that the call names; of a run: its agent'),
});
export type WakeCost = z.infer<typeof wakeCostSchema>;
