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
  compactionSchema,
  endReasonSchema,
  messageStatusSchema,
  ms,
  stamp,
  usageSchema,
} from './documents.ts';
import type { ProjectId } from '../domain/ids.ts';
import { idOf } from './limits.ts';
import { recordSchema } from './records.ts';
import { runCauseSchema, runEnd } from './runs.ts';

const id = z.string().min(1);
const { agentId, sessionId, messageId, position } = common;
const when = {
  time: ms.describe('ms since the epoch, the relay’s clock'),
  at: stamp
    .optional()
    .describe('set by the event log; later than that of every earlier event, even if the clock went back'),
};
const seat = { agentId, position };
/** The run in which something was said, and the session of that run. */
const ofRun = {
  sessionId: sessionId.nullable().describe('null: in a run outside a session'),
  runId: common.runId.optional().describe('left out: in no run, such as a message of the person'),
};
const callId = id.describe('one call to the team');
const callKindSchema = z.enum(['wake', 'summon']);
export type CallKind = z.infer<typeof callKindSchema>;

const asleepCodeSchema = z
  .enum(['failed', 'silent', 'put-to-sleep', 'unnamed', 'cancelled'])
  .describe(
    'failed: the model returned an error; silent: nothing was said in time; put-to-sleep: by the person; unnamed: no name in time; cancelled: the session ended first',
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
  .describe('Who answers: the rehearsal mind (`rehearsal`, no model), or a model behind the Messages API.');
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
  'mcp-servers',
  'notifications',
  'programs',
  'asked',
  'projects',
  'webhooks',
  'memories',
  'exams',
] as const;
export type Changed = (typeof CHANGES)[number];

export const eventSchema = z.discriminatedUnion('kind', [
  z
    .object({ kind: z.literal('session-started'), ...when, sessionId, mind: mindSchema })
    .describe('a session runs; every agent still sleeps'),
  z
    .object({ kind: z.literal('mind-changed'), ...when, sessionId, mind: mindSchema })
    .describe('a model was connected, removed or changed; later answers of the session come from this one'),
  z
    .object({ kind: z.literal('session-ended'), ...when, sessionId, reason: endReasonSchema })
    .describe('no session runs; every agent sleeps'),
  z
    .object({
      kind: z.literal('call-started'),
      ...when,
      sessionId,
      callId,
      call: callKindSchema,
      seats: z.array(
        z.object({ ...seat, name: z.string().nullable().describe('null: no agent has been born in this seat yet') }),
      ),
    })
    .describe('a wake or a summon of these seats has begun; with a summon, eggs hatch there'),
  z
    .object({
      kind: z.literal('call-ended'),
      ...when,
      sessionId,
      callId,
      error: z.string().nullable().describe('why the whole call failed, as a sentence for people'),
    })
    .describe('every seat of the call has its outcome'),
  z
    .object({ kind: z.literal('agent-awake'), ...when, ...seat, sessionId })
    .describe('the agent’s first words of this session arrived'),
  z
    .object({
      kind: z.literal('client-joined'),
      ...when,
      ...seat,
      sessionId,
      credentialId: id.describe('the credential that the client used'),
      client: z.string().describe('the credential’s name'),
      readsInbox: z.boolean().describe('the client has Roost’s tools, and can read the inbox'),
    })
    .describe(
      'an API client with this agent’s credential has called, and drives the agent; sent again once the client turns out to read the inbox',
    ),
  z
    .object({ kind: z.literal('client-left'), ...when, agentId, sessionId, credentialId: id })
    .describe('the credential was revoked, or the client has not called for long'),
  z
    .object({ kind: z.literal('agent-asleep'), ...when, ...seat, sessionId, reason: asleepReasonSchema })
    .describe('the agent sleeps again, and why'),
  z
    .object({
      kind: z.literal('agent-born'),
      ...when,
      ...seat,
      sessionId,
      name: z.string().describe('the name that the agent chose'),
      color: z.string().describe('its seat’s colour, `#rrggbb`'),
      colorName: z.string(),
      soul: z.string().describe('the full text of the agent’s first words'),
      bornAt: common.time,
    })
    .describe('an egg chose its name, and its first words, the soul, are complete'),
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
    .describe('the agent took another name, or rewrote its soul'),
  z
    .object({
      kind: z.literal('run-started'),
      ...when,
      runId: common.runId,
      agentId,
      sessionId: sessionId.nullable().describe('null: the run is in no session'),
      cause: runCauseSchema,
    })
    .describe('a run began: in a session, where it lasts until the agent leaves its seat, or outside one'),
  z
    .object({
      kind: z.literal('run-ended'),
      ...when,
      runId: common.runId,
      agentId,
      sessionId: sessionId.nullable(),
      ...runEnd,
      usage: usageSchema.nullable().describe('null: no model reported any'),
    })
    .describe('a run has ended; sent once for each run'),
  z
    .object({ kind: z.literal('answer-started'), ...when, messageId, agentId, ...ofRun })
    .describe('an answer begins; `text` and `tool` events with this messageId follow, then one `message`'),
  z.object({ kind: z.literal('text'), messageId, text: z.string() }).describe('the next words of an answer'),
  z
    .object({ kind: z.literal('tool'), messageId, block: blockSchema })
    .describe('a tool call of an answer: sent with `result: null` when it begins, and again with the result'),
  z
    .object({
      kind: z.literal('message'),
      ...when,
      messageId,
      ...ofRun,
      agentId: agentId.describe('the agent whose conversation it is: "lead" or an agent id'),
      author: authorSchema.describe('the author: "human", "relay", "lead" or an agent id'),
      role: z.enum(['user', 'assistant']).describe('the text that the model is given'),
      blocks: z.array(blockSchema),
      attachments: attachmentsSchema
        .optional()
        .describe('pictures and files that came with the message, without their bytes'),
      status: messageStatusSchema,
      error: z.string().nullable().describe('if it failed: the reason, as a sentence for people'),
      usage: usageSchema.nullable().describe('null: the model reported none, or no model was asked'),
      clientId: z.string().nullable().describe('the page’s own id of a message from the person'),
      replaces: z
        .string()
        .nullable()
        .describe('edit-and-resend, or retry: hides the message with this id and all later ones'),
      waiting: z.boolean().describe('the message waits in the inbox of a sleeping agent'),
      unasked: z
        .literal(true)
        .optional()
        .describe(
          'the message answers nothing that the person said: it is a greeting, or an answer to other agents. The page does not mark it as unread, unless it failed',
        ),
      compaction: compactionSchema.optional(),
      completedAt: stamp
        .optional()
        .describe('set by the event log: when the answer was complete; the event itself is dated by its beginning'),
    })
    .describe('a whole message of the person or an agent'),
  z
    .object({ kind: z.literal('message-read'), ...when, messageId, agentId, ...ofRun })
    .describe('an agent was given a message that waited in its inbox'),
  z
    .object({
      kind: z.literal('pause-flag'),
      ...when,
      sessionId,
      agentId,
      paused: z.boolean(),
      by: z.string().describe('who did it: "human", an agent’s id, or the event that did it'),
    })
    .describe('the sleeping flag of an agent of the running session was set or cleared'),
  z
    .object({ kind: z.literal('record'), ...when, record: recordSchema })
    .describe(
      'a new version of a record that the household must not lose with the relay; the newest of each id applies',
    ),
  z
    .object({
      kind: z.literal('changed'),
      ...when,
      what: z.enum(CHANGES),
      agentId: agentId.nullable().describe('the agent that it is about; null: all agents'),
      projectId: idOf<ProjectId>(id).optional().describe('of `projects`: the one that changed; left out: any'),
    })
    .describe('data of the relay has changed; a page that shows it fetches it again'),
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
  upTo: z.number().int().nonnegative().describe('the id of the last event that the snapshot includes'),
  session: z
    .object({
      sessionId,
      startedAt: common.time,
      mind: mindSchema,
      awake: z.array(id).describe('ids of the agents that have answered'),
      hatching: z
        .array(z.object({ ...seat, call: callKindSchema, callId, name: z.string().nullable() }))
        .describe('agents that were called and have not answered yet'),
      asleep: z
        .array(z.object({ agentId, reason: asleepReasonSchema }))
        .describe('agents that fell asleep in this session, and why'),
      clients: z
        .array(z.object({ agentId, credentialId: id, client: z.string(), readsInbox: z.boolean() }))
        .describe('API clients that drive an agent, in the order in which they came'),
      paused: z.array(id).describe('ids of the awake or driven agents whose sleeping flag is set'),
    })
    .nullable()
    .describe('null: no session runs'),
  runs: z
    .array(
      z.object({
        runId: common.runId,
        agentId,
        sessionId: sessionId.nullable(),
        cause: runCauseSchema,
        startedAt: common.time,
        startedBy: z.number().int().positive().describe('the id of the run’s first event'),
      }),
    )
    .describe('the runs under way, in the session or outside one'),
  answering: z
    .array(z.object({ messageId, agentId, ...ofRun, at: stamp.optional().describe('when the answer began') }))
    .describe('the answers that are being written'),
  lastEnd: z
    .object({ sessionId, reason: endReasonSchema, endedAt: common.time })
    .nullable()
    .describe('how the last session ended'),
});
export type Snapshot = z.infer<typeof snapshotSchema>;
