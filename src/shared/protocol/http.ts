/**
 * The relay's calls. Bodies are JSON, and errors are problem documents (RFC 9457). Every call
 * except `GET /api/health` and `GET /enter` needs the session cookie from the one-time link and the
 * page key (page-key.ts).
 */
import { z } from 'zod';
import { ATTACHMENT_TYPES, ATTACHMENTS } from '../domain/attachment.ts';
import { TEAM_EVENTS } from '../domain/guardrails.ts';
import type { SessionId } from '../domain/ids.ts';
import { SETTING_BOUNDS, SETTING_TEXT_MAX } from '../domain/settings.ts';
import { agentIdSchema, attachmentFields, stamp } from './documents.ts';
import { MAX_TIME } from '../domain/stamp.ts';
import { idOf, LIMITS } from './limits.ts';
import { languageSchema } from './language.ts';
import { modelSchema } from './models.ts';

const id = z.string().min(1).max(LIMITS.id);
const bounded = (key: keyof typeof SETTING_BOUNDS) =>
  z.number().int().min(SETTING_BOUNDS[key].min).max(SETTING_BOUNDS[key].max);

export const openHealthSchema = z
  .object({
    status: z.literal('ok'),
    version: z.string().describe('the relay’s version'),
    clock: z
      .object({
        standsStillMs: z
          .number()
          .int()
          .nonnegative()
          .nullable()
          .describe('ms for which the clock has checked nothing; null: it works'),
        stoodMs: z
          .number()
          .int()
          .nonnegative()
          .nullable()
          .describe(
            'ms for which the clock had stopped when this relay started; null: it had not, or the person had ended the relay',
          ),
        copied: z
          .boolean()
          .describe(
            'the relay’s folder is a copy of another one. What was due there is not due here until the person moves it here',
          ),
      })
      .describe('state of the clock that starts routines'),
    database: z
      .object({
        awayMs: z
          .number()
          .int()
          .nonnegative()
          .nullable()
          .describe('ms for which the database has been unreachable; null: it can be reached'),
        trouble: z.string().nullable().describe('a sentence for people; null: there is no problem'),
      })
      .describe('the database in which the relay stores its data'),
  })
  .describe('State of the relay, for anybody.');
export type OpenHealth = z.infer<typeof openHealthSchema>;

export const aliveSchema = z.object({ status: z.literal('ok') }).describe('The relay answers, for probes.');

export const healthSchema = openHealthSchema
  .extend({
    mind: z.enum(['rehearsal', 'anthropic']).describe('what answers; with `rehearsal` no model does'),
    model: z.string().describe('the lead’s model'),
    sessionActive: z.boolean().describe('a session of this browser’s household runs'),
  })
  .describe('State of the relay, for a browser that is signed in.');
export type Health = z.infer<typeof healthSchema>;

const chosenModels = {
  leadModel: z.string().max(SETTING_TEXT_MAX.leadModel).describe('empty: the relay’s own default'),
  agentModel: z.string().max(SETTING_TEXT_MAX.agentModel).describe('empty: the relay’s own default'),
  agentModels: z
    .record(agentIdSchema, z.string().min(1).max(SETTING_TEXT_MAX.agentModel))
    .refine((models) => Object.keys(models).length <= LIMITS.agentModels, {
      message: `must name at most ${LIMITS.agentModels} agents`,
    })
    .describe('by agent id: the model that the person chose for this agent; other agents have `agentModel`'),
};
const sessionNumbers = {
  maxAnswerTokens: bounded('maxAnswerTokens').describe('most tokens that one answer may take'),
  contextTokens: bounded('contextTokens').describe(
    'tokens that the models can read; 0: as their names or their refusals say',
  ),
  wakeTimeoutMs: bounded('wakeTimeoutMs').describe('ms for which an agent may stay silent after it is woken'),
  birthTimeoutMs: bounded('birthTimeoutMs').describe('ms that an egg may take to find a name'),
  idleMs: bounded('idleMs').describe('ms of silence after which the session ends by itself'),
};
/** `PUT /api/sessions/current/settings` */
export const runningSettingsSchema = z.strictObject({
  ...z.strictObject(chosenModels).partial({ agentModels: true }).shape,
  ...z.strictObject(sessionNumbers).partial().shape,
});
export type RunningSettings = z.infer<typeof runningSettingsSchema>;

/**
 * `POST /api/sessions`: starts a session, with the lead's identity and the household's settings.
 */
export const startSessionSchema = z.strictObject({
  human: z.strictObject({
    name: z.string().trim().min(1).max(LIMITS.name),
    language: languageSchema.optional(),
  }),
  lead: z.strictObject({
    name: z.string().trim().min(1).max(LIMITS.name),
    soul: z.string().max(LIMITS.soul).nullable().describe('null: no soul is written yet'),
    transcript: z
      .string()
      .max(LIMITS.soul)
      .nullable()
      .describe('the agent’s last conversation, as the model is given it'),
    asleepSince: z
      .number()
      .int()
      .min(0)
      .max(MAX_TIME)
      .optional()
      .describe('when the last thing that the agent remembers was said, ms since the epoch'),
    sleptFrom: z
      .number()
      .int()
      .min(0)
      .max(MAX_TIME)
      .optional()
      .describe('when the agent fell asleep, ms since the epoch; left out: at `asleepSince`'),
  }),
  after: stamp
    .optional()
    .describe('a stamp; every event of this session is later, even if the relay’s clock is behind'),
  ahead: z
    .boolean()
    .optional()
    .describe(
      'the person knows that `after` is more than a day ahead of the relay’s clock, and wants to continue after it',
    ),
  settings: z
    .strictObject({
      ...chosenModels,
      ...sessionNumbers,
      wakeTemplate: z.string().max(SETTING_TEXT_MAX.wakeTemplate).describe('empty: the template in CLAUDE.md'),
    })
    .partial()
    .optional(),
});
export type StartSession = z.infer<typeof startSessionSchema>;

/**
 * An agent that is in a session from its start, and the events that put it to sleep and wake it
 * there.
 */
const seatedSchema = z.strictObject({
  agent: id.describe('the agent’s id, name or seat'),
  sleepEvents: z
    .array(z.enum(TEAM_EVENTS))
    .max(TEAM_EVENTS.length)
    .optional()
    .describe(
      'applies in this session; left out: the agent’s own setting. With `agent_started` the agent begins asleep, and no model is asked',
    ),
  wakeEvents: z
    .array(z.enum(TEAM_EVENTS))
    .max(TEAM_EVENTS.length)
    .optional()
    .describe('as `sleepEvents`, for events that wake the agent'),
});
export type Seated = z.infer<typeof seatedSchema>;

/**
 * Body of `POST /api/sessions`: all of `startSessionSchema` from a page, only `agents` from an
 * application.
 */
export const askSessionSchema = startSessionSchema.extend({
  human: startSessionSchema.shape.human.optional().describe('required from a page; an application leaves it out'),
  lead: startSessionSchema.shape.lead.optional().describe('required from a page; an application leaves it out'),
  agents: z
    .array(seatedSchema)
    .max(LIMITS.agentModels)
    .optional()
    .describe('agents that are in the session from its start, without the lead’s greeting'),
});
export const sessionStartedSchema = z.object({
  sessionId: id,
  agents: z
    .array(
      z.object({
        agentId: agentIdSchema,
        name: z.string(),
        state: z
          .enum(['asleep', 'waking', 'absent'])
          .describe(
            'asleep: the agent is in the session and rests; waking: it is asked for its first words; absent: it is not in the session',
          ),
        detail: z.string().optional().describe('why the agent is absent, as a sentence'),
      }),
    )
    .optional()
    .describe('the agents that were named, in that order'),
});

/** `POST /api/messages`: to the lead, or to the agent `to`. `clientId` makes a repeat harmless. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/**
 * A picture or file on its way to the model. The relay stores its name, and its bytes only until
 * they are read.
 */
export const sentAttachmentSchema = z
  .strictObject({
    ...attachmentFields,
    mediaType: z.enum(ATTACHMENT_TYPES),
    data: z.string().regex(BASE64, 'base64').describe('the bytes, in base64'),
  })
  .refine(({ bytes, data }) => data.length === 4 * Math.ceil(bytes / 3), {
    path: ['data'],
    error: 'is not as long as `bytes` says',
  });
export const postMessageSchema = z
  .strictObject({
    text: z
      .string()
      .max(LIMITS.teamCallText)
      .describe(
        `the person’s words, up to ${LIMITS.messageText.toLocaleString('en')} characters, or a call to the team`,
      ),
    to: agentIdSchema.optional().describe('an agent’s id; left out: the lead'),
    clientId: id.describe('chosen by the page; a repeat with the same id is the same message'),
    replaces: id
      .optional()
      .describe(
        'edit-and-resend, or retry: the id of a message of the person in this conversation and session; the messages after it are stored, and hidden',
      ),
    attachments: z
      .array(sentAttachmentSchema)
      .max(ATTACHMENTS.count)
      .refine((list) => list.reduce((sum, { bytes }) => sum + bytes, 0) <= ATTACHMENTS.bytes, {
        error: `have more than ${ATTACHMENTS.bytes.toLocaleString('en')} bytes together`,
      })
      .optional()
      .describe(`pictures and files, together at most ${ATTACHMENTS.bytes.toLocaleString('en')} bytes`),
  })
  .refine(({ text, attachments = [] }) => text !== '' || attachments.length > 0, {
    path: ['text'],
    error: 'says nothing, and nothing is attached',
  });
export type PostMessage = z.infer<typeof postMessageSchema>;
/** `PUT /api/summaries/{messageId}` */
export const correctSummarySchema = z.strictObject({
  text: z.string().trim().min(1).max(LIMITS.messageText).describe('the person’s text of the summary'),
});
export const messagePostedSchema = z.object({
  eventId: z.number().int().describe('id of the event that announces the message'),
});

/** `POST /api/events/ack`: a browser has stored everything up to here. */
export const ackSchema = z.strictObject({ upTo: z.number().int().nonnegative().describe('an event id') });

/** `GET /api/home`: the relation of this browser to the relay's households. */
export const homeStatusSchema = z
  .object({
    begun: z.boolean().describe('this browser has a household here'),
    lived: z
      .boolean()
      .describe(
        'somebody lives in that household; if this browser has no data of it, the page does not begin a new one',
      ),
    others: z.number().int().describe('number of other households'),
  })
  .describe('How the relay knows a browser.');
export type HomeStatus = z.infer<typeof homeStatusSchema>;

/** `POST /api/home`: begins a household. */
export const beginHomeSchema = z.strictObject({
  beside: z.boolean().describe('begins a household even if there are others'),
  anew: z
    .boolean()
    .default(false)
    .describe(
      'if somebody lives in the household of this sign-in: leave both to its other devices, and give this browser a new sign-in; the next call begins another household',
    ),
});

/** RFC 9457. `type` is a name under `about:roost/`. Further members are listed below. */
export const problemSchema = z.looseObject({
  type: z.string().describe('a name under `about:roost/`'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string().describe('a sentence for people: what happened, and what to do'),
  errors: z
    .array(z.object({ field: z.string(), message: z.string() }))
    .optional()
    .describe('400: the fields that do not fit, and why'),
  sessionId: idOf<SessionId>(id).optional().describe('409 on `POST /api/sessions`: the id of the running session'),
  epoch: z.number().int().optional().describe('403 `old-key`: the household’s newest key epoch'),
  models: z.array(modelSchema).optional().describe('422 `choose-model`: the models that the server has'),
  box: z
    .string()
    .nullable()
    .optional()
    .describe('403 `old-key`: the newest keys, sealed to this device; null: none are sealed to it'),
  current: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('409 `changed-elsewhere`: the current record with its `version`, as `GET` answers it'),
});
export type Problem = z.infer<typeof problemSchema>;

export const roomSchema = z.object({
  bytes: z
    .number()
    .int()
    .min(0)
    .describe('size of all files of the home; with a Postgres server also of its tables there'),
  free: z.number().int().min(0).describe('free bytes on the home’s disk'),
  keepFree: z
    .number()
    .int()
    .min(0)
    .describe(
      'free bytes that agents leave on the disk. Below that, agents store nothing more, and only the person can write',
    ),
  part: z
    .object({ bytes: z.number().int().min(0), most: z.number().int().min(0) })
    .nullable()
    .describe('size and limit of the sealed entries of the caller’s household; null: it has none here'),
});
export type Room = z.infer<typeof roomSchema>;

/** Positions 0–8; 4 is the lead. */
const seats = z.array(z.number().int().min(0).max(8));
/** Behaviour and faults of the demo mind: `GET` and `PUT /api/rehearsal`; 404 with a real mind. */
export const rehearsalSchema = z
  .strictObject({
    seed: z.number().int().min(0).default(1).describe('the same seed gives the same words'),
    delayMs: z.number().int().min(0).max(600_000).default(400).describe('ms before the first word of each answer'),
    wordMs: z.number().int().min(0).max(10_000).default(25).describe('ms between words'),
    fail: seats.default([]).describe('these agents get an error from the model'),
    silent: seats.default([]).describe('these agents never say a word'),
    cut: seats.default([]).describe('the streams of these agents are cut in mid-answer'),
    nameless: seats.default([]).describe('these agents say that no name feels right yet'),
    sameName: seats.default([]).describe('these agents all choose the same name'),
    leadIgnores: z.boolean().default(false).describe('the lead does not call its tool'),
  })
  .describe('How the rehearsal mind behaves, and misbehaves.');
export type Rehearsal = z.infer<typeof rehearsalSchema>;
