/**
 * Schemas of the fields and parts of documents. Kinds receive them as an argument, so that the
 * page's first paint does not load zod.
 */
import { z } from 'zod';
import { AGENT_ID_MAX, isAgentId, isAuthor } from '../../domain/agent-id.ts';
import type { AgentId, MessageId, RunId, SessionId } from '../../domain/ids.ts';
import { ATTACHMENTS } from '../../domain/attachment.ts';
import { LAST_TIME, MAX_TIME, parseStamp } from '../../domain/stamp.ts';
import { idOf } from '../limits.ts';

export { runCauseSchema, runEnd } from '../runs.ts';
/**
 * What kinds use of zod. All of zod as one value would bring its messages in fifty languages into
 * the page and both of its workers.
 */
const usedOfZod = {
  array: z.array,
  boolean: z.boolean,
  discriminatedUnion: z.discriminatedUnion,
  enum: z.enum,
  literal: z.literal,
  looseObject: z.looseObject,
  number: z.number,
  record: z.record,
  string: z.string,
  unknown: z.unknown,
};
export { usedOfZod as z };
export const id = z.string().min(1).max(512);
export const RESERVED_ID = 'no id that an agent can have';
/**
 * An agent's id, including the lead's. All entry points use this check. See
 * src/shared/domain/agent-id.ts.
 */
export const agentIdSchema = idOf<AgentId>(
  z
    .string()
    .min(1)
    .max(AGENT_ID_MAX)
    .refine((value): boolean => isAgentId(value), RESERVED_ID),
);
/** The author of a message: an agent, "human", "relay" or an application. */
export const authorSchema = z
  .string()
  .min(1)
  .max(AGENT_ID_MAX)
  .refine((value): boolean => isAuthor(value), RESERVED_ID);
export const ms = z.number().int().min(0).max(MAX_TIME);
/** How far past LAST_TIME a clock that has seen the last stamp may write. */
const CLOCK_ROOM_MS = 365 * 24 * 60 * 60 * 1000;
/** A hybrid logical clock stamp, see src/shared/domain/stamp.ts. */
export const stamp = z
  .string()
  .regex(/^\d{15}-\d{6}-[A-Za-z0-9_.]{1,64}$/, 'a clock stamp')
  .refine((text) => (parseStamp(text)?.time ?? 0) <= LAST_TIME + CLOCK_ROOM_MS, 'a stamp of before the year 10000')
  .describe('a hybrid clock stamp `<ms, 15 digits>-<counter, 6 digits>-<node>`; stamps sort by time');

export const base = {
  _id: id.describe('unique, and the same on every device for the same event'),
  schema: z.number().int().min(1).describe('version of this kind of document'),
  at: stamp,
};
/** Fields that have the same meaning everywhere. */
export const common = {
  agentId: agentIdSchema.describe('"lead", or the id an agent was born with'),
  sessionId: idOf<SessionId>(id).describe('the session in which it happened'),
  runId: idOf<RunId>(id).describe('one run'),
  messageId: idOf<MessageId>(id).describe('one message or answer'),
  time: ms.describe('ms since the epoch'),
  position: z.number().int().min(0).max(8).describe('place in the grid, row by row; 4 is the lead’s'),
};
export const endReasonSchema = z.enum(['ended', 'idle', 'shutdown', 'crash']);
export type EndReason = z.infer<typeof endReasonSchema>;

export const blockSchema = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({
    kind: z.literal('tool'),
    toolUseId: z.string().describe('pairs a call with its result'),
    name: z.string().describe('the tool'),
    input: z.unknown().describe('the input that the mind passed'),
    result: z.string().nullable().describe('null: the call was cut off before it returned'),
    isError: z.boolean(),
    startedAt: ms.optional().describe('when the call began'),
    asks: z
      .literal(true)
      .optional()
      .describe('nothing ran: the call waits for the person’s answer, and its result says so'),
    endedAt: ms.optional().describe('when the result was there'),
  }),
  z.looseObject({
    kind: z.literal('call'),
    call: z.enum(['wake', 'summon']),
    callId: z.string().describe('identifies one call to the team'),
    seats: z.array(z.looseObject({ agentId: agentIdSchema, position: z.number(), name: z.string().nullable() })),
  }),
]);
export type Block = z.infer<typeof blockSchema>;

export const attachmentFields = {
  attachmentId: id.describe('the file; its bytes are documents of kind `attachment`'),
  name: z.string().min(1).max(ATTACHMENTS.name).describe('the file’s original name'),
  mediaType: z.string(),
  bytes: z.number().int().min(1).max(ATTACHMENTS.bytes),
  width: z.number().int().min(1).optional().describe('of a picture, in pixels'),
  height: z.number().int().min(1).optional(),
};
/** The attachments of a message, without their bytes. */
export const attachmentsSchema = z.array(z.looseObject(attachmentFields)).max(ATTACHMENTS.count);

export const usageSchema = z
  .looseObject({
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
  })
  .describe('Tokens that one answer used, as the model counted them.');
export type Usage = z.infer<typeof usageSchema>;

export const compactionSchema = z
  .looseObject({
    messages: z.number().int().nonnegative().describe('how many messages the summary replaces'),
    from: z.string().nullable().describe('id of the first message after them; null: the message with the summary'),
    tokensBefore: z.number().int().nonnegative().describe('of the next request, without the summary; an estimate'),
    corrects: z.string().optional().describe('id of the summary that the person corrected; this text applies instead'),
    tokensAfter: z.number().int().nonnegative().describe('of the next request, with the summary; an estimate'),
  })
  .describe('The message is a summary by which its agent goes on. The messages that it replaces stay as they are.');
export type Compaction = z.infer<typeof compactionSchema>;

export const messageStatusSchema = z
  .enum(['complete', 'stopped', 'interrupted', 'failed'])
  .describe(
    'complete: the answer ended by itself; stopped: the person stopped it; interrupted: the relay or the stream was cut; failed: the model refused or returned an error',
  );
export type MessageStatus = z.infer<typeof messageStatusSchema>;
