/**
 * The relay's events: an append-only log with increasing ids, sent as server-sent events
 * (`id`, `event` = kind, `data` = JSON) and kept until a browser has stored them.
 *
 * What an event carries is enough to write its documents, with ids that come from the event: writing one
 * twice is harmless.
 */
import { z } from 'zod';
import { blockSchema, endReasonSchema, messageStatusSchema, ms, usageSchema } from './documents.ts';

const id = z.string().min(1);
const at = { time: ms.describe('ms since the epoch, the relay’s clock') };
const seat = { agentId: id, position: z.number().int().min(0).max(8) };

export const callKindSchema = z.enum(['wake', 'summon']);
export type CallKind = z.infer<typeof callKindSchema>;

/** Why an agent sleeps again, or an egg is an empty seat again. */
export const asleepCodeSchema = z.enum(['failed', 'silent', 'not-called', 'put-to-sleep', 'unnamed', 'cancelled']);
export const asleepReasonSchema = z.object({ code: asleepCodeSchema, message: z.string().describe('a sentence for people') });
export type AsleepReason = z.infer<typeof asleepReasonSchema>;

export const mindSchema = z.object({
  kind: z.enum(['rehearsal', 'anthropic']),
  leadModel: z.string(),
  agentModel: z.string(),
});
export type MindInfo = z.infer<typeof mindSchema>;

export const eventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session-started'), ...at, sessionId: id, mind: mindSchema }),
  z.object({ kind: z.literal('session-ended'), ...at, sessionId: id, reason: endReasonSchema }),
  z
    .object({
      kind: z.literal('call-started'),
      ...at,
      sessionId: id,
      wakeId: id,
      call: callKindSchema,
      seats: z.array(z.object({ ...seat, name: z.string().nullable() })),
    })
    .describe('a wake or a summon is under way for these seats: they hatch'),
  z
    .object({ kind: z.literal('call-ended'), ...at, sessionId: id, wakeId: id, error: z.string().nullable() })
    .describe('every seat of the call is decided; `error` says why the call as a whole failed'),
  z.object({ kind: z.literal('agent-awake'), ...at, ...seat, sessionId: id }).describe('its first words of this session arrived'),
  z.object({ kind: z.literal('agent-asleep'), ...at, ...seat, sessionId: id, reason: asleepReasonSchema }),
  z
    .object({
      kind: z.literal('agent-born'),
      ...at,
      ...seat,
      sessionId: id,
      name: z.string(),
      color: z.string(),
      colorName: z.string(),
      soul: z.string(),
      bornAt: ms,
    })
    .describe('it chose its name, and its first words are complete: its soul'),
  z.object({ kind: z.literal('birth-ended'), ...at, ...seat, sessionId: id, reason: asleepReasonSchema }).describe('the egg is an empty seat again'),
  z.object({
    kind: z.literal('agent-changed'),
    ...at,
    agentId: id,
    sessionId: id,
    change: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('rename'), name: z.string() }),
      z.object({ kind: z.literal('soul'), individuationArtifact: z.string() }),
    ]),
  }),
  z
    .object({ kind: z.literal('answer-started'), ...at, messageId: id, agentId: id, sessionId: id })
    .describe('an answer begins; `text` and `tool` events with this messageId follow, then one `message`'),
  z.object({ kind: z.literal('text'), messageId: id, text: z.string() }).describe('the next words of an answer'),
  z
    .object({ kind: z.literal('tool'), messageId: id, block: blockSchema })
    .describe('a tool call of an answer: with result null when it begins, again with the result'),
  z
    .object({
      kind: z.literal('message'),
      ...at,
      messageId: id,
      sessionId: id,
      agentId: id,
      author: id,
      role: z.enum(['user', 'assistant']),
      blocks: z.array(blockSchema),
      status: messageStatusSchema,
      error: z.string().nullable(),
      usage: usageSchema.nullable(),
      clientId: z.string().nullable(),
      replaces: z.string().nullable(),
      waiting: z.boolean().describe('it waits in the inbox of an agent that sleeps'),
    })
    .describe('a whole message, the person’s or an agent’s'),
  z.object({ kind: z.literal('message-read'), ...at, messageId: id, agentId: id, sessionId: id }),
]);
export type RoostEvent = z.infer<typeof eventSchema>;
export type EventKind = RoostEvent['kind'];
export type EventOf<K extends EventKind> = Extract<RoostEvent, { kind: K }>;

/** An event with its place in the log. */
export interface StoredEvent {
  readonly id: number;
  readonly event: RoostEvent;
}

/**
 * The first thing on every connection, without an id: which log this is. A browser that knew another log
 * (the relay's home was replaced) starts again from the beginning; a client says which log its cursor is of
 * with `?log=`, and the relay sends everything where it is not this one.
 */
export const helloSchema = z.object({ log: id, version: z.string() });
export type Hello = z.infer<typeof helloSchema>;

/**
 * Sent once on every connection, without an id, after what was missed and before what is new: the state of
 * the running session as of event `upTo`. A page believes in a session only after this.
 */
export const snapshotSchema = z.object({
  upTo: z.number().int().nonnegative(),
  session: z
    .object({
      sessionId: id,
      startedAt: ms,
      mind: mindSchema,
      awake: z.array(id),
      hatching: z.array(z.object({ ...seat, call: callKindSchema, wakeId: id, name: z.string().nullable() })),
      asleep: z.array(z.object({ agentId: id, reason: asleepReasonSchema })),
      answering: z.array(z.object({ messageId: id, agentId: id })),
    })
    .nullable(),
  lastEnd: z.object({ sessionId: id, reason: endReasonSchema, endedAt: ms }).nullable(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;
