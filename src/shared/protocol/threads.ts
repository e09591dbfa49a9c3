/**
 * Inboxes and threads on the wire: messages between agents, and conversations of several agents.
 */
import { z } from 'zod';
import type { MessageId, ThreadId } from '../domain/ids.ts';
import { MESSAGE_PRIORITIES, MESSAGE_TYPES } from '../domain/guardrails.ts';
import { common } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { namedVersionSchema, versionSchema } from './version.ts';

const id = z.string().min(1).max(LIMITS.id);

// The inbox on the wire.

const inboxMessageSchema = z.object({
  messageId: idOf<MessageId>(id),
  to: common.agentId,
  from: id.describe('"human", "relay", an agent’s id, or `app:` and the name of an application'),
  text: z.string(),
  time: common.time,
  priority: z.enum(MESSAGE_PRIORITIES),
  type: z
    .enum(MESSAGE_TYPES)
    .optional()
    .describe('the reason that an agent gave; left out: a message of the person, the relay or a thread'),
  threadId: idOf<ThreadId>(id).nullable().describe('the thread that it belongs to; null: it belongs to none'),
  read: z
    .object({ time: common.time, run: id.describe('the answer, or the tool call, in which the agent read it') })
    .nullable()
    .describe('null: the message waits'),
});
export type InboxMessage = z.infer<typeof inboxMessageSchema>;

/** `GET /api/agents/{id}/inbox`: newest first, at most `limit`. */
export const inboxSchema = z.object({ messages: z.array(inboxMessageSchema), more: z.boolean() });
/** `GET /api/inbox`: how many messages wait for each agent. */
export const unreadSchema = z.object({ unread: z.record(z.string(), z.number().int().nonnegative()) });

export const threadTitle = z.string().trim().min(1).max(LIMITS.threadTitle);
const speaker = id.describe('"human", an agent’s id, or `app:` and the name of an application');

export const threadMessageSchema = z.object({
  messageId: idOf<MessageId>(id),
  sequence: z.number().int().positive().describe('its sequence in the thread, from 1'),
  from: speaker,
  text: z.string(),
  mentions: z.array(common.agentId),
  time: common.time,
  restored: z.literal(true).optional().describe('a page restored the message at a relay that had lost it'),
});
export type ThreadMessage = z.infer<typeof threadMessageSchema>;

export const threadSchema = z.object({
  threadId: idOf<ThreadId>(id),
  version: versionSchema.describe('counts changes of the thread, not its messages'),
  title: z.string(),
  createdBy: speaker,
  createdAt: common.time,
  participants: z.array(common.agentId).describe('agents; the person reads and writes in every thread'),
  messages: z.number().int().nonnegative(),
  lastTime: common.time,
  closed: z.object({ time: common.time, by: speaker, summary: z.string() }).nullable(),
});
export type Thread = z.infer<typeof threadSchema>;

/** `GET /api/threads?before=&limit=` */
export const threadsSchema = z.object({
  threads: z.array(threadSchema).describe('by their last message, newest first'),
  more: z.boolean().describe('there are older ones'),
});
/**
 * `GET /api/threads/{threadId}/messages?before=&limit=`: the newest messages before that sequence
 * number.
 */
export const threadMessagesSchema = z.object({
  thread: threadSchema,
  messages: z.array(threadMessageSchema).describe('oldest first'),
  more: z.boolean().describe('there are earlier ones'),
  read: z
    .record(z.string(), z.number().int().nonnegative())
    .optional()
    .describe('by participant: the sequence up to which it has read the others’ messages'),
});

/** An agent by its id, name or seat. */
const reference = id.describe('an agent’s id, name or seat');
/** `POST /api/threads` */
export const createThreadSchema = z.strictObject({
  title: threadTitle,
  participants: z.array(reference).min(1).max(LIMITS.threadParticipants),
});
/** `POST /api/threads/{threadId}/messages` */
export const sendToThreadSchema = z.strictObject({
  text: z.string().trim().min(1).max(LIMITS.messageText),
  mentions: z.array(reference).max(LIMITS.threadParticipants).default([]),
  clientId: id.describe('a repeat with the same id is the same message'),
});
/** `POST /api/threads/{threadId}/participants` */
export const addToThreadSchema = z.strictObject({ agentId: reference, version: namedVersionSchema });
/** `POST /api/threads/{threadId}/close` */
export const closeThreadSchema = z.strictObject({
  summary: z.string().trim().max(LIMITS.threadSummary).default(''),
  version: namedVersionSchema,
});
