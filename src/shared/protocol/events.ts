/**
 * The relay's events: an append-only log with increasing ids. It is sent as server-sent events
 * (`id`, `event` = kind, `data` = JSON), and stored until a browser has stored them.
 *
 * An event contains all that is needed to write its documents. Their ids come from the event, so
 * writing one twice is harmless.
 */
import { z } from 'zod';
import {
  attachmentsSchema,
  authorSchema,
  blockSchema,
  common,
  endReasonSchema,
  messageStatusSchema,
  ms,
  stamp,
  usageSchema,
} from './documents.ts';
import { recordSchema } from './records.ts';
import { runCauseSchema, runEnd } from './runs.ts';

const id = z.string().min(1);
const { agentId, sessionId, messageId, position } = common;
const when = {
  time: ms.describe('ms since the epoch, the relay’s clock'),
  at: stamp
    .optional()
    .describe('put there by the log: later than that of every event before it, also where the clock went back'),
};
const seat = { agentId, position };
/** The run in which something was said, and the session of that run. */
const ofRun = {
  sessionId: sessionId.nullable().describe('null: in a run that is in no session'),
  runId: common.runId.optional().describe('left out: in no run, as what the person writes'),
};
const callId = id.describe('one call to the team');
const callKindSchema = z.enum(['wake', 'summon']);
export type CallKind = z.infer<typeof callKindSchema>;

const asleepCodeSchema = z
  .enum(['failed', 'silent', 'put-to-sleep', 'unnamed', 'cancelled'])
  .describe(
    'failed: the model erred; silent: nothing was said in time; put-to-sleep: by the person; unnamed: no name in time; cancelled: the session ended first',
  );
export const asleepReasonSchema = z
  .object({ code: asleepCodeSchema, message: z.string().describe('a sentence for people') })
  .describe('Why an agent sleeps again, or an egg is an empty seat again.');
export type AsleepReason = z.infer<typeof asleepReasonSchema>;

export const mindSchema = z
  .object({
    kind: z.enum(['rehearsal', 'anthropic']),
    leadModel: z.string().describe('the model that answers for the lead'),
    agentModel: z.string().describe('the model that answers for the agents'),
  })
  .describe('Who thinks: nobody (`rehearsal`), or a model behind the Messages API.');
export type MindInfo = z.infer<typeof mindSchema>;
/**
 * Data that the relay stores beside the log. Events only announce that it changed, and each has its
 * own call to read it.
 */
export const CHANGES = [
  'inbox',
  'wakes',
  'config',
  'threads',
  'credentials',
  'costs',
  'team',
  'schedules',
  'files',
  'calls',
  'approvals',
  'models',
  'attached',
  'notifications',
  'programs',
  'asked',
] as const;
export type Changed = (typeof CHANGES)[number];

export const eventSchema = z.discriminatedUnion('kind', [
  z
    .object({ kind: z.literal('session-started'), ...when, sessionId, mind: mindSchema })
    .describe('a session runs; everyone sleeps still'),
  z
    .object({ kind: z.literal('mind-changed'), ...when, sessionId, mind: mindSchema })
    .describe('a model was connected, removed or changed: the session’s next answers are from this one'),
  z
    .object({ kind: z.literal('session-ended'), ...when, sessionId, reason: endReasonSchema })
    .describe('no session runs; everyone sleeps'),
  z
    .object({
      kind: z.literal('call-started'),
      ...when,
      sessionId,
      callId,
      call: callKindSchema,
      seats: z.array(
        z.object({ ...seat, name: z.string().nullable().describe('null: nobody has been born here yet') }),
      ),
    })
    .describe('a wake or a summon is under way for these seats: they hatch'),
  z
    .object({
      kind: z.literal('call-ended'),
      ...when,
      sessionId,
      callId,
      error: z.string().nullable().describe('why the call as a whole failed, a sentence for people'),
    })
    .describe('every seat of the call is decided'),
  z
    .object({ kind: z.literal('agent-awake'), ...when, ...seat, sessionId })
    .describe('its first words of this session arrived'),
  z
    .object({
      kind: z.literal('client-joined'),
      ...when,
      ...seat,
      sessionId,
      credentialId: id.describe('whose credential it called with'),
      client: z.string().describe('the credential’s name'),
      readsInbox: z.boolean().describe('it has Roost’s tools, and can read the inbox'),
    })
    .describe(
      'a client that holds this agent’s credential has called: it plays the agent from elsewhere; again where it turns out to read its inbox',
    ),
  z
    .object({ kind: z.literal('client-left'), ...when, agentId, sessionId, credentialId: id })
    .describe('its credential was revoked, or it has not called for long'),
  z
    .object({ kind: z.literal('agent-asleep'), ...when, ...seat, sessionId, reason: asleepReasonSchema })
    .describe('it sleeps again, and why'),
  z
    .object({
      kind: z.literal('agent-born'),
      ...when,
      ...seat,
      sessionId,
      name: z.string().describe('the name it chose'),
      color: z.string().describe('its seat’s colour, `#rrggbb`'),
      colorName: z.string(),
      soul: z.string().describe('the full text of its first words'),
      bornAt: common.time,
    })
    .describe('it chose its name, and its first words are complete: its soul'),
  z
    .object({ kind: z.literal('birth-ended'), ...when, ...seat, sessionId, reason: asleepReasonSchema })
    .describe('the egg is an empty seat again'),
  z
    .object({
      kind: z.literal('agent-changed'),
      ...when,
      agentId,
      sessionId,
      change: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('rename'), name: z.string() }),
        z.object({ kind: z.literal('soul'), individuationArtifact: z.string() }),
      ]),
    })
    .describe('it took another name, or wrote its soul anew'),
  z
    .object({
      kind: z.literal('run-started'),
      ...when,
      runId: common.runId,
      agentId,
      sessionId: sessionId.nullable().describe('null: it is in no session'),
      cause: runCauseSchema,
    })
    .describe('an agent is at work: in its seat of a session until it leaves it, or alone'),
  z
    .object({
      kind: z.literal('run-ended'),
      ...when,
      runId: common.runId,
      agentId,
      sessionId: sessionId.nullable(),
      ...runEnd,
      usage: usageSchema.nullable().describe('null: no model told any'),
    })
    .describe('a run is over, once, in one way'),
  z
    .object({ kind: z.literal('answer-started'), ...when, messageId, agentId, ...ofRun })
    .describe('an answer begins; `text` and `tool` events with this messageId follow, then one `message`'),
  z.object({ kind: z.literal('text'), messageId, text: z.string() }).describe('the next words of an answer'),
  z
    .object({ kind: z.literal('tool'), messageId, block: blockSchema })
    .describe('a tool call of an answer: with result null when it begins, again with the result'),
  z
    .object({
      kind: z.literal('message'),
      ...when,
      messageId,
      ...ofRun,
      agentId: agentId.describe('whose conversation: "lead" or an agent id'),
      author: authorSchema.describe('"human", "relay", "lead" or an agent id'),
      role: z.enum(['user', 'assistant']).describe('as the model is told it'),
      blocks: z.array(blockSchema),
      attachments: attachmentsSchema.optional().describe('pictures and files that came with it, without their bytes'),
      status: messageStatusSchema,
      error: z.string().nullable().describe('a sentence for people, where it failed'),
      usage: usageSchema.nullable().describe('null: the model did not say, or none was asked'),
      clientId: z.string().nullable().describe('the page’s own id of a message that the person wrote'),
      replaces: z
        .string()
        .nullable()
        .describe('edit-and-resend, or retry: the message with this id, and all after it, are hidden'),
      waiting: z.boolean().describe('it waits in the inbox of an agent that sleeps'),
      unasked: z
        .literal(true)
        .optional()
        .describe(
          'an answer to nothing that the person said: a greeting, or to what others wrote. It is not new to the person, unless it failed',
        ),
      completedAt: stamp
        .optional()
        .describe('put there by the log: of an answer, which is dated by its beginning, when it was whole'),
    })
    .describe('a whole message, the person’s or an agent’s'),
  z
    .object({ kind: z.literal('message-read'), ...when, messageId, agentId, ...ofRun })
    .describe('a message that waited was put before its agent'),
  z
    .object({
      kind: z.literal('pause-flag'),
      ...when,
      sessionId,
      agentId,
      paused: z.boolean(),
      by: z.string().describe('"human", an agent’s id, or the happening that did it'),
    })
    .describe('an agent of the running session was set to sleep, or woken'),
  z
    .object({ kind: z.literal('record'), ...when, record: recordSchema })
    .describe('the relay keeps something anew that the household must not lose with it; the newest of each id holds'),
  z
    .object({
      kind: z.literal('changed'),
      ...when,
      what: z.enum(CHANGES),
      agentId: agentId.nullable().describe('whose; null: everybody’s'),
    })
    .describe('something that the relay keeps has changed; whoever shows it asks again'),
]);
export type RoostEvent = z.infer<typeof eventSchema>;
export type EventKind = RoostEvent['kind'];
export type EventOf<K extends EventKind> = Extract<RoostEvent, { kind: K }>;

/** An event with its position in the log. */
export interface StoredEvent {
  readonly id: number;
  readonly event: RoostEvent;
}

/**
 * The state of the running session and of all runs as of event `upTo`. It is sent once on every
 * connection, without an id, after the missed events and before new ones. A page does not assume a
 * session before it.
 */
export const snapshotSchema = z.object({
  upTo: z.number().int().nonnegative().describe('the id of the last event that it knows of'),
  session: z
    .object({
      sessionId,
      startedAt: common.time,
      mind: mindSchema,
      awake: z.array(id).describe('ids of the agents that have answered'),
      hatching: z
        .array(z.object({ ...seat, call: callKindSchema, callId, name: z.string().nullable() }))
        .describe('who was called and has not answered yet'),
      asleep: z
        .array(z.object({ agentId, reason: asleepReasonSchema }))
        .describe('who fell asleep in this session, and why'),
      clients: z
        .array(z.object({ agentId, credentialId: id, client: z.string(), readsInbox: z.boolean() }))
        .describe('clients that play an agent from elsewhere, in the order in which they came'),
      paused: z.array(id).describe('ids of those among the awake and the played whose sleeping flag is set'),
    })
    .nullable()
    .describe('null: none runs'),
  runs: z
    .array(
      z.object({
        runId: common.runId,
        agentId,
        sessionId: sessionId.nullable(),
        cause: runCauseSchema,
        startedAt: common.time,
        startedBy: z.number().int().positive().describe('the id of the event'),
      }),
    )
    .describe('who is at work, in the session or in none'),
  answering: z
    .array(z.object({ messageId, agentId, ...ofRun, at: stamp.optional().describe('of its beginning') }))
    .describe('the answers that are being written'),
  lastEnd: z
    .object({ sessionId, reason: endReasonSchema, endedAt: common.time })
    .nullable()
    .describe('how the last session ended'),
});
export type Snapshot = z.infer<typeof snapshotSchema>;
