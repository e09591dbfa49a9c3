/**
 * Records: data that the relay needs to act alone.
 *
 * Records are rows at the relay, and each change of one is an event that every browser stores as a
 * document. A page can therefore restore them at a relay that has lost its home, or was restored
 * from an old copy. The newest by stamp wins, on both sides.
 */
import { z } from 'zod';
import type { ThreadId } from '../domain/ids.ts';
import { isRecord } from '../domain/platform/json.ts';
import { DEFAULT_PRICES, priceName } from '../domain/prices.ts';
import { mcpServerRecordSchema } from './mcp.ts';
import { attemptValueSchema } from './attempts.ts';
import { agentConfigSchema, householdConfigSchema } from './config.ts';
import { pricesSchema } from './costs.ts';
import { authorSchema, common, ms, stamp } from './documents.ts';
import { projectIdSchema } from './outward-texts.ts';
import { idOf, LIMITS } from './limits.ts';
import { examRecordSchema } from './exams.ts';
import { memoryValueSchema } from './memories.ts';
import { projectValueSchema, taskValueSchema } from './projects.ts';
import { mappingValueSchema } from './routine-mappings.ts';
import { scheduleRecordSchema } from './schedules.ts';

const id = z.string().min(1).max(LIMITS.id);
const recordId = z.string().min(1).max(LIMITS.recordId);

const limitsValue = z.union([
  z.strictObject({ agentId: z.null().describe('the household'), config: householdConfigSchema }),
  z.strictObject({ agentId: common.agentId.describe('the agent'), config: agentConfigSchema }),
]);

const memberSchema = z.strictObject({
  agentId: common.agentId,
  addedAt: ms,
  addedBy: authorSchema,
  times: z.number().int().positive().describe('how often the agent was added'),
  removedAt: ms.nullable().describe('null: the agent is in the thread'),
});
const threadValue = z.strictObject({
  title: z.string().min(1).max(LIMITS.threadTitle),
  createdBy: authorSchema,
  createdAt: ms,
  members: z.array(memberSchema).max(LIMITS.recordMembers).describe('every agent that ever was in the thread'),
  closed: z.strictObject({ time: ms, by: authorSchema, summary: z.string().max(LIMITS.threadSummary) }).nullable(),
});
const threadMessageValue = z.strictObject({
  threadId: idOf<ThreadId>(id),
  sequence: z.number().int().positive().describe('its sequence in the thread, from 1'),
  from: authorSchema,
  text: z.string().max(LIMITS.messageText),
  mentions: z.array(common.agentId).max(LIMITS.threadParticipants),
  time: common.time,
  clientId: z.string().min(1).max(LIMITS.id).nullable().describe('the page’s own id of a message from the person'),
});

/** A record as the relay stores and announces it. */
export const recordSchema = z
  .discriminatedUnion('type', [
    z
      .object({ type: z.literal('limits'), id: recordId, value: limitsValue })
      .describe('what an agent, or the household, may do and spend: wakes, blackouts, budgets'),
    z.object({ type: z.literal('prices'), id: recordId, value: pricesSchema }).describe('the price table'),
    z.object({ type: z.literal('thread'), id, value: threadValue }).describe('a thread, without its messages'),
    z.object({ type: z.literal('thread-message'), id, value: threadMessageValue }).describe('a message of a thread'),
    z
      .object({ type: z.literal('schedule'), id, value: scheduleRecordSchema })
      .describe('a routine, a reminder or a script of an agent'),
    z
      .object({ type: z.literal('attached-server'), id, value: mcpServerRecordSchema })
      .describe('an MCP server that the person has connected, without its secrets'),
    z
      .object({ type: z.literal('project'), id: projectIdSchema, value: projectValueSchema })
      .describe('a project, without its tasks'),
    z.object({ type: z.literal('task'), id, value: taskValueSchema }).describe('a task of a project'),
    z.object({ type: z.literal('attempt'), id, value: attemptValueSchema }).describe('an attempt at a task'),
    z
      .object({ type: z.literal('routine-mapping'), id, value: mappingValueSchema })
      .describe('a routine that works on a project'),
    z.object({ type: z.literal('memory'), id, value: memoryValueSchema }).describe('a file of a memory'),
    z.object({ type: z.literal('exam'), id, value: examRecordSchema }).describe('a certificate of continuity'),
  ])
  .describe('what the relay must have to act alone; the newest of each id applies');
export type RelayRecord = z.infer<typeof recordSchema>;
export type RecordType = RelayRecord['type'];
export type RecordOf<Type extends RecordType> = Extract<RelayRecord, { type: Type }>;
export const RECORD_TYPES = [
  'limits',
  'prices',
  'thread',
  'thread-message',
  'schedule',
  'attached-server',
  'project',
  'task',
  'attempt',
  'routine-mapping',
  'memory',
  'exam',
] as const satisfies readonly RecordType[];

/** Identifies a version of a record. */
const versionSchema = z.object({ type: z.string().min(1).max(64), id: recordId, at: stamp });
export type RecordVersion = z.infer<typeof versionSchema>;

/** `POST /api/records/compare` */
export const compareRecordsSchema = z.strictObject({
  records: z
    .array(
      versionSchema.extend({
        messages: z.number().int().nonnegative().optional().describe('of a thread: how many messages the page has'),
      }),
    )
    .max(LIMITS.recordsCompared),
});
const recordStatusSchema = z
  .enum(['unknown', 'older', 'known'])
  .describe(
    'unknown: the relay has no version of it; older: the relay has an older version, or fewer messages; known: the relay has this version or a newer one',
  );
export type RecordStatus = z.infer<typeof recordStatusSchema>;
export const comparedRecordsSchema = z.object({
  standings: z.array(recordStatusSchema).describe('in the order of the request'),
});

/**
 * `POST /api/records`. Values are validated one by one, so an invalid one does not block the
 * others.
 */
export const offerRecordsSchema = z.strictObject({
  records: z.array(versionSchema.extend({ value: z.unknown() })).max(LIMITS.recordsOffered),
});
export type OfferedRecord = z.infer<typeof offerRecordsSchema>['records'][number];
const recordAnswerSchema = z.discriminatedUnion('answer', [
  z.object({ answer: z.literal('taken') }),
  z.object({ answer: z.literal('kept') }).describe('the relay has this version or a newer one, and does not change it'),
  z
    .object({ answer: z.literal('asked') })
    .describe('part of the record would act by itself, and waits for the person’s yes; the relay has taken the rest'),
  z.object({ answer: z.literal('refused'), why: z.string().describe('a sentence for people') }),
]);
export type RecordAnswer = z.infer<typeof recordAnswerSchema>;
export const offeredRecordsSchema = z.object({
  answers: z.array(recordAnswerSchema).describe('in the order of the request'),
});

/**
 * The parts of a record that wait for the person's approval at this relay, as `GET
 * /api/records/approvals` lists them. `hash` is that of the shown content.
 */
const askedBase = {
  id: recordId,
  hash: z.string().max(100).describe('identifies what is shown; a yes applies to exactly that'),
};
const unset = z.unknown().optional();
const askedRecordSchema = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('attached-server'),
      ...askedBase,
      part: z.literal(''),
      here: mcpServerRecordSchema.nullable().describe('its current connection; null: it is not connected'),
      after: mcpServerRecordSchema,
    })
    .describe('an MCP server that would be started or called'),
  z
    .object({
      type: z.literal('schedule'),
      ...askedBase,
      part: z.literal(''),
      here: scheduleRecordSchema.nullable().describe('its current schedule; null: it is not scheduled'),
      after: scheduleRecordSchema,
      projects: z
        .array(
          z.object({
            name: z.string().describe('the project’s name, or its id if the relay does not know the project'),
            ...mappingValueSchema.pick({ columnIds: true, toolOverrides: true, separate: true }).shape,
          }),
        )
        .optional()
        .describe('projects on which the routine would work; left out: none'),
    })
    .describe('a schedule that would become due'),
  z
    .object({
      type: z.literal('project'),
      ...askedBase,
      part: z.literal(''),
      here: projectValueSchema.describe('the project as it holds here; a new one with nothing that acts or costs'),
      after: projectValueSchema.describe('as it would be; the same as `here` if only tasks wait'),
      tasks: z
        .array(
          z.object({
            ...taskValueSchema.pick({
              ...{ number: true, title: true, description: true, assignee: true, priority: true, columnId: true },
            }).shape,
            taskId: z.string().max(LIMITS.id),
            version: z.number().int(),
            criteria: z.array(z.string()),
            comments: z.array(z.string()).describe('the person’s on lines, by the record'),
            notes: z.array(z.string()).describe('in its history'),
            asked: z.boolean().describe('it came as a record; false: it is here, and would be taken'),
          }),
        )
        .describe('tasks that agents would take, or for which others wait; the first, if there are many'),
    })
    .describe('a project whose commands, agents, instructions, repository or budgets would hold, or its tasks'),
  z
    .object({
      type: z.literal('prices'),
      ...askedBase,
      part: z.literal(''),
      here: pricesSchema.shape.prices,
      after: pricesSchema.shape.prices,
    })
    .describe('a price table in which some models are cheaper'),
  z
    .object({
      type: z.literal('limits'),
      ...askedBase,
      part: z.string().max(LIMITS.recordId).describe('the path of the limit, as JSON'),
      agentId: common.agentId.nullable().describe('the agent whose limit it is; null: the household’s'),
      here: unset.describe('the current value; left out: not set'),
      after: unset.describe('the offered value; left out: not set'),
    })
    .describe('a wider limit'),
]);
export type AskedRecord = z.infer<typeof askedRecordSchema>;
export const askedRecordsSchema = z.object({ asked: z.array(askedRecordSchema) });

/** `POST /api/records/approvals` */
export const answerAskedSchema = z.strictObject({
  answers: z
    .array(
      z.strictObject({
        type: z.enum(['attached-server', 'schedule', 'project', 'limits', 'prices']),
        id: recordId,
        part: z.string().max(LIMITS.recordId),
        hash: z.string().max(100),
        yes: z.boolean().describe('false: it stays off at this relay'),
      }),
    )
    .max(LIMITS.recordsOffered),
});
export type AskedAnswer = z.infer<typeof answerAskedSchema>['answers'][number];
const askedOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('done') }),
  z.object({ outcome: z.literal('over') }).describe('it no longer waits, or differs from what was shown'),
  z.object({
    outcome: z.literal('refused'),
    why: z.string().describe('why it could not be applied, as a sentence for people; it still waits'),
  }),
]);
export type AskedOutcome = z.infer<typeof askedOutcomeSchema>;
export const askedOutcomesSchema = z.object({
  outcomes: z.array(askedOutcomeSchema).describe('in the order of the answers'),
});

// Fields of limits and prices: the fields that a record sets, and records with some fields
// replaced. Pure.

/** By field: the path of a limit as JSON, or the name of a price. A missing field is not set. */
type RecordFields = ReadonlyMap<string, unknown>;

function* leaves(value: unknown, path: readonly string[]): Generator<readonly [string, unknown]> {
  if (isRecord(value)) for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
  else if (value !== undefined) yield [JSON.stringify(path), value];
}

/**
 * A list is one field, because its items only have a meaning together. A table without prices is
 * Roost's own.
 */
export function fieldsOf(type: 'limits' | 'prices', record: RelayRecord | null): RecordFields {
  if (type === 'limits') return new Map(record?.type === 'limits' ? leaves(record.value.config, []) : []);
  const prices = record?.type === 'prices' ? record.value.prices : [];
  return new Map((prices.length === 0 ? DEFAULT_PRICES : prices).map((price) => [priceName(price), price]));
}

/** The path of a limit's field. */
export function pathOf(field: string): readonly string[] {
  const path: unknown = JSON.parse(field);
  return Array.isArray(path) ? path.map(String) : [];
}

/** `undefined` removes the field. Never calls a setter, whatever the key is. */
function withPath(value: unknown, [key, ...rest]: readonly string[], inner: unknown): unknown {
  if (key === undefined) return inner;
  const entries = isRecord(value) ? Object.entries(value) : [];
  const set = withPath(entries.find(([name]) => name === key)?.[1], rest, inner);
  const others = entries.filter(([name]) => name !== key);
  return Object.fromEntries(set === undefined ? others : [...others, [key, set]]);
}

function nameOf(row: unknown): string {
  const { model, above } = isRecord(row) ? row : {};
  return priceName({ model: String(model), above: typeof above === 'number' ? above : undefined });
}

/**
 * The value of a record with these fields replaced and all others unchanged. The caller validates
 * it.
 */
export function withFields(
  type: 'limits' | 'prices',
  value: unknown,
  fields: Iterable<readonly [field: string, value: unknown]>,
): unknown {
  if (type === 'limits') {
    let changed = value;
    for (const [field, inner] of fields) changed = withPath(changed, ['config', ...pathOf(field)], inner);
    return changed;
  }
  const own: readonly unknown[] = isRecord(value) && Array.isArray(value['prices']) ? value['prices'] : [];
  const rows = own.length === 0 ? DEFAULT_PRICES : own;
  const set = new Map(fields);
  const others = rows.filter((row) => !set.has(nameOf(row)));
  return { prices: [...others, ...[...set.values()].filter((row) => row !== undefined)] };
}
