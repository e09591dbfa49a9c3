/** Memories on the wire: Markdown files that an agent keeps, and those of the team. */
import { z } from 'zod';
import { MEMORY_LIMITS, memoryPathFault } from '../domain/memory.ts';
import type { MemoryId } from '../domain/ids.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { namedVersionSchema, versionSchema } from './version.ts';

const id = z.string().min(1).max(LIMITS.id);
/** The store rejects a NUL, and the rule of paths refuses it. */
const path = z
  .string()
  .min(1)
  .max(MEMORY_LIMITS.path)
  .refine((given) => memoryPathFault(given) === null, {
    error: ({ input }) => memoryPathFault(String(input)) ?? 'is no path of a memory',
  });
const text = z
  .string()
  .max(MEMORY_LIMITS.fileBytes)
  .refine(
    (given) => new TextEncoder().encode(given).length <= MEMORY_LIMITS.fileBytes,
    `has at most ${MEMORY_LIMITS.fileBytes} bytes`,
  );

/** Tools whose results an agent had seen when it wrote. More are not named. */
export const MOST_READ = 50;
const memorySourceSchema = z.strictObject({
  by: z
    .enum(['human', 'agent', 'dream'])
    .describe('who wrote this version; dream: the agent in a dream that was adopted'),
  sessionId: id.nullable().describe('the session in which it was written; null: none'),
  runId: id.nullable().describe('the run in which it was written; null: none'),
  read: z
    .array(z.string().min(1).max(200))
    .max(MOST_READ)
    .describe('tools that had shown the agent text of others in that session or run; empty: none'),
});
export type MemorySource = z.infer<typeof memorySourceSchema>;

const index = z.number().int().nonnegative();
/** At most one write for each line of a file, and as many that a line goes back to. */
const writes = 2 * MEMORY_LIMITS.fileBytes;
/** Where each line of a file came from; see ../domain/memory-lines.ts. */
export const memoryLinesSchema = z.strictObject({
  sources: z.array(memorySourceSchema).max(writes),
  origins: z
    .array(z.strictObject({ source: index, time: ms, after: z.array(index).max(writes) }))
    .max(writes)
    .describe(
      'the writes that added the lines: index of its source, time, and indexes of earlier writes whose lines it replaced',
    ),
  runs: z
    .array(z.tuple([index, index, index]))
    .max(writes)
    .describe('from the first line on: index of a write, number of the first line in it, count of lines'),
});

/** A file of a memory as its record has it. */
export const memoryValueSchema = z.strictObject({
  agentId: common.agentId.nullable().describe('whose memory it is; null: the team’s'),
  path,
  text: text.describe('empty if the file was removed'),
  pinned: z.boolean().describe('every prompt has it'),
  source: memorySourceSchema.describe('of the last write'),
  lines: memoryLinesSchema.optional().describe('where each line came from; left out: from the last write'),
  createdAt: ms,
  changedAt: ms,
  removed: z.boolean(),
});
export type MemoryValue = z.infer<typeof memoryValueSchema>;

export const memorySchema = z.object({
  ...memoryValueSchema.omit({ removed: true }).shape,
  memoryId: idOf<MemoryId>(id),
  version: versionSchema,
});
export type Memory = z.infer<typeof memorySchema>;
export const memoriesSchema = z.object({
  memories: z.array(memorySchema).describe('in the order of their paths'),
  bytes: z.number().int().nonnegative().describe('of all these files'),
});

/** `POST /api/memories` */
export const createMemorySchema = z.strictObject({
  agentId: common.agentId.nullable().describe('null: a file of the team'),
  path,
  text,
  pinned: z.boolean().default(false),
  importedFrom: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('the product from whose export the text is; the source then names it as text of others'),
});
/** `PUT /api/memories/{memoryId}`: fields that are left out stay as they are. */
export const changeMemorySchema = z.strictObject({
  path: path.optional(),
  text: text.optional(),
  pinned: z.boolean().optional(),
  version: namedVersionSchema,
});
