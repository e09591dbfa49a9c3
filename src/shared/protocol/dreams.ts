/** Dreams on the wire: what an agent would change of its memory. */
import { z } from 'zod';
import { DREAM_STATES } from '../domain/dreams.ts';
import { MEMORY_LIMITS } from '../domain/memory.ts';
import type { DreamId, MemoryId, RunId } from '../domain/ids.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';

const id = z.string().min(1).max(LIMITS.id);
const path = z.string().min(1).max(MEMORY_LIMITS.path);
const text = z.string().max(MEMORY_LIMITS.fileBytes);

/** One file that a dream would change. */
export const dreamChangeSchema = z.strictObject({
  memoryId: idOf<MemoryId>(id).nullable().describe('the file; null: a new one'),
  path: path.describe('its path after the dream'),
  pathBefore: path.nullable().describe('its path before; null: it is new'),
  before: text.nullable().describe('its text before; null: it is new'),
  after: text.nullable().describe('its text after; null: it is removed'),
});
export type DreamChange = z.infer<typeof dreamChangeSchema>;

/** What a dream has come to. */
export const dreamValueSchema = z.strictObject({
  runId: idOf<RunId>(id).nullable().describe('its run; null: none has begun'),
  changes: z.array(dreamChangeSchema),
  bytesBefore: z.number().int().nonnegative().describe('of the memory before'),
  bytesAfter: z.number().int().nonnegative().describe('of the memory after it is adopted'),
  said: z.string().nullable().describe('the agent’s last words in it'),
  detail: z.string().nullable().describe('why it failed or was discarded, as a sentence for people'),
  tokens: z.number().int().nonnegative().nullable().describe('null: not known'),
  costMicroUsd: z.number().int().nonnegative(),
  estimated: z.boolean().describe('the cost is an upper bound'),
});
export type DreamValue = z.infer<typeof dreamValueSchema>;

export const dreamSchema = z.object({
  dreamId: idOf<DreamId>(id),
  agentId: common.agentId,
  night: z
    .string()
    .nullable()
    .describe('the day on which it was due, such as 2026-11-29; null: the person asked for it'),
  state: z.enum(DREAM_STATES),
  madeAt: ms,
  changedAt: ms.describe('when it came to this state'),
  ...dreamValueSchema.shape,
});
export type Dream = z.infer<typeof dreamSchema>;
export const dreamsSchema = z.object({ dreams: z.array(dreamSchema).describe('newest first') });

/** `POST /api/dreams` */
export const startDreamSchema = z.strictObject({ agentId: common.agentId });
