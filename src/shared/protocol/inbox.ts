/** The inbox on the wire. */
import { z } from 'zod';
import type { MessageId, ThreadId } from '../domain/ids.ts';
import { MESSAGE_PRIORITIES, MESSAGE_TYPES } from '../domain/guardrails.ts';
import { common } from './documents.ts';
import { LIMITS } from './limits.ts';
import { idOf } from './ids.ts';

const id = z.string().min(1).max(LIMITS.id);

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
/** `GET /api/inbox`: how much waits for each agent. */
export const unreadSchema = z.object({ unread: z.record(z.string(), z.number().int().nonnegative()) });
