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
    .describe('what it is for, as an agent said; left out: a message of the person, the relay or a thread'),
  threadId: idOf<ThreadId>(id).nullable().describe('the thread in which it was said; null: a message of its own'),
  read: z
    .object({ time: common.time, run: id.describe('the answer, or the call, that it was put before') })
    .nullable()
    .describe('null: it waits'),
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
  restored: z.literal(true).optional().describe('a page gave it back to a relay that had lost it'),
});
export type ThreadMessage = z.infer<typeof threadMessageSchema>;

export const threadSchema = z.object({
  threadId: idOf<ThreadId>(id),
  version: versionSchema.describe('counts the changes of the thread, apart from what is said in it'),
  title: z.string(),
  createdBy: speaker,
  createdAt: common.time,
  participants: z.array(common.agentId).describe('agents; the person reads and writes everywhere'),
  messages: z.number().int().nonnegative(),
  lastTime: common.time,
  closed: z.object({ time: common.time, by: speaker, summary: z.string() }).nullable(),
});
export type Thread = z.infer<typeof threadSchema>;

/** `GET /api/threads?before=&limit=` */
export const threadsSchema = z.object({
  threads: z.array(threadSchema).describe('newest first, by their last message'),
  more: z.boolean().describe('older ones are there'),
});
/**
 * `GET /api/threads/{threadId}/messages?before=&limit=`: the newest messages before that sequence
 * number.
 */
export const threadMessagesSchema = z.object({
  thread: threadSchema,
  messages: z.array(threadMessageSchema).describe('oldest first'),
  more: z.boolean().describe('earlier ones are there'),
  read: z
    .record(z.string(), z.number().int().nonnegative())
    .optional()
    .describe('by who takes part: the place up to which it was given what others said'),
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
  clientId: id.describe('a repeat with the same one is one message'),
});
/** `POST /api/threads/{threadId}/participants` */
export const addToThreadSchema = z.strictObject({ agentId: reference, version: namedVersionSchema });
/** `POST /api/threads/{threadId}/close` */
export const closeThreadSchema = z.strictObject({
  summary: z.string().trim().max(LIMITS.threadSummary).default(''),
  version: namedVersionSchema,
});
