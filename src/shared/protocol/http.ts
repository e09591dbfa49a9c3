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
          .describe('ms for which nothing that is due was looked at; null: it goes'),
        stoodMs: z
          .number()
          .int()
          .nonnegative()
          .nullable()
          .describe('ms for which it had stood when this relay started; null: it had not, or the person had ended it'),
        copied: z
          .boolean()
          .describe(
            'its folder is a copy of another’s: what was due there is not due here until the person brings it here',
          ),
      })
      .describe('by which agents’ routines are due'),
    database: z
      .object({
        awayMs: z.number().int().nonnegative().nullable().describe('ms since it cannot be reached; null: it can'),
        trouble: z.string().nullable().describe('a sentence for people; null: there is none'),
      })
      .describe('in which the relay keeps what it holds'),
  })
  .describe('How the relay is, for anybody.');
export type OpenHealth = z.infer<typeof openHealthSchema>;

export const healthSchema = openHealthSchema
  .extend({
    mind: z.enum(['rehearsal', 'anthropic']).describe('who answers; with `rehearsal` nobody thinks'),
    model: z.string().describe('the lead’s model'),
    sessionActive: z.boolean().describe('a session of this browser’s household runs'),
  })
  .describe('How the relay is, for a browser that is signed in.');
export type Health = z.infer<typeof healthSchema>;

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
    soul: z.string().max(LIMITS.soul).nullable().describe('null: none written yet'),
    transcript: z.string().max(LIMITS.soul).nullable().describe('its last conversation, as it is put before it'),
    asleepSince: z
      .number()
      .int()
      .min(0)
      .max(MAX_TIME)
      .optional()
      .describe('when the last thing was said that it remembers, ms since the epoch'),
    sleptFrom: z
      .number()
      .int()
      .min(0)
      .max(MAX_TIME)
      .optional()
      .describe('when it fell asleep, ms since the epoch; left out: with the last thing that it remembers'),
  }),
  after: stamp
    .optional()
    .describe('a stamp: what happens in this session is later, also where the relay’s clock is behind'),
  ahead: z
    .boolean()
    .optional()
    .describe(
      'the person knows that `after` lies ahead of the relay’s clock by more than a day, and wants to go on after it',
    ),
  settings: z
    .strictObject({
      leadModel: z.string().max(SETTING_TEXT_MAX.leadModel).describe('empty: the relay’s own default'),
      agentModel: z.string().max(SETTING_TEXT_MAX.agentModel).describe('empty: the relay’s own default'),
      agentModels: z
        .record(agentIdSchema, z.string().min(1).max(SETTING_TEXT_MAX.agentModel))
        .refine((models) => Object.keys(models).length <= LIMITS.agentModels, {
          message: `must name at most ${LIMITS.agentModels} agents`,
        })
        .describe('by agent id: the model that the person chose for this one; the others have `agentModel`'),
      maxAnswerTokens: bounded('maxAnswerTokens').describe('most tokens one answer may take'),
      contextTokens: bounded('contextTokens').describe(
        'tokens that the models read; 0: as their names or their refusals tell',
      ),
      wakeTimeoutMs: bounded('wakeTimeoutMs').describe('ms an agent may stay silent when woken'),
      birthTimeoutMs: bounded('birthTimeoutMs').describe('ms an egg may take to find a name'),
      idleMs: bounded('idleMs').describe('ms without anything said, after which the session ends by itself'),
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
  agent: id.describe('its id, name or seat'),
  sleepEvents: z
    .array(z.enum(TEAM_EVENTS))
    .max(TEAM_EVENTS.length)
    .optional()
    .describe(
      'in this session; left out: the agent’s own. With `agent_started` it begins asleep, and no model is asked',
    ),
  wakeEvents: z.array(z.enum(TEAM_EVENTS)).max(TEAM_EVENTS.length).optional().describe('the same of what wakes it'),
});
export type Seated = z.infer<typeof seatedSchema>;

/**
 * Body of `POST /api/sessions`: all of `startSessionSchema` from a page, only `agents` from an
 * application.
 */
export const askSessionSchema = startSessionSchema.extend({
  human: startSessionSchema.shape.human.optional().describe('of a page: needed; of an application: none'),
  lead: startSessionSchema.shape.lead.optional().describe('of a page: needed; of an application: none'),
  agents: z
    .array(seatedSchema)
    .max(LIMITS.agentModels)
    .optional()
    .describe('who is in the session from its start, without the lead’s greeting'),
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
          .describe('asleep: it is here and rests; waking: it is asked for its first words; absent: it is not here'),
        detail: z.string().optional().describe('why it is absent: a sentence'),
      }),
    )
    .optional()
    .describe('those that were named, in that order'),
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
        `what the person says, up to ${LIMITS.messageText.toLocaleString('en')} characters, or a call to the team`,
      ),
    to: agentIdSchema.optional().describe('an agent’s id; left out: the lead'),
    clientId: id.describe('chosen by the page; a repeat with the same one is one message'),
    replaces: id
      .optional()
      .describe(
        'edit-and-resend, or retry: the id of a message of the person’s in this conversation and session; what came after it is kept, out of sight',
      ),
    attachments: z
      .array(sentAttachmentSchema)
      .max(ATTACHMENTS.count)
      .refine((list) => list.reduce((sum, { bytes }) => sum + bytes, 0) <= ATTACHMENTS.bytes, {
        error: `have more than ${ATTACHMENTS.bytes.toLocaleString('en')} bytes together`,
      })
      .optional()
      .describe(`pictures and files, of ${ATTACHMENTS.bytes.toLocaleString('en')} bytes together at most`),
  })
  .refine(({ text, attachments = [] }) => text !== '' || attachments.length > 0, {
    path: ['text'],
    error: 'says nothing, and nothing is attached',
  });
export type PostMessage = z.infer<typeof postMessageSchema>;
export const messagePostedSchema = z.object({
  eventId: z.number().int().describe('the event that tells of the message'),
});

/** `POST /api/events/ack`: a browser has stored everything up to here. */
export const ackSchema = z.strictObject({ upTo: z.number().int().nonnegative().describe('an event id') });

/** `GET /api/home`: the relation of this browser to the relay's households. */
export const homeStandingSchema = z
  .object({
    begun: z.boolean().describe('this browser has a household here'),
    lived: z
      .boolean()
      .describe('somebody lives in that household: where this browser keeps nothing of it, nobody begins there anew'),
    others: z.number().int().describe('households of others'),
    look: z.boolean().describe('it may look at what the one other household says and hears now'),
  })
  .describe('How a browser stands to the households of the relay.');
export type HomeStanding = z.infer<typeof homeStandingSchema>;

/** `POST /api/home`: begins a household. */
export const beginHomeSchema = z.strictObject({
  beside: z.boolean().describe('also where others live here'),
  anew: z
    .boolean()
    .default(false)
    .describe(
      'where somebody lives in the household of this sign-in: leave both to its other devices, and take a sign-in of its own, by which the next call begins another',
    ),
});

/** `GET /api/look`: the agents of the household that this browser may view. */
export const lookedAtSchema = z.object({
  agents: z.array(z.object({ agentId: agentIdSchema, name: z.string(), position: z.number().int().nullable() })),
});
export type LookedAt = z.infer<typeof lookedAtSchema>;

/** RFC 9457. `type` is a name under `about:roost/`. Further members are listed below. */
export const problemSchema = z.looseObject({
  type: z.string().describe('a name under `about:roost/`'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string().describe('a sentence for people: what happened and what to do'),
  errors: z
    .array(z.object({ field: z.string(), message: z.string() }))
    .optional()
    .describe('400: what did not fit, and where'),
  sessionId: idOf<SessionId>(id).optional().describe('409 on `POST /api/sessions`: the session that runs'),
  epoch: z.number().int().optional().describe('403 `old-key`: the household’s newest key'),
  models: z.array(modelSchema).optional().describe('422 `choose-model`: what the server has'),
  box: z
    .string()
    .nullable()
    .optional()
    .describe('403 `old-key`: the newest keys, sealed to this device; null: there are none for it'),
  current: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('409 `changed-elsewhere`: the record as it is now, with its `version`, as `GET` answers it'),
});
export type Problem = z.infer<typeof problemSchema>;

export const roomSchema = z.object({
  bytes: z
    .number()
    .int()
    .min(0)
    .describe('of all its files and, where the store is a Postgres server, of its tables there'),
  free: z.number().int().min(0).describe('bytes of the home’s disk that are free'),
  keepFree: z
    .number()
    .int()
    .min(0)
    .describe('bytes of it that agents leave free: while less is, they store no more, and the person alone writes on'),
  part: z
    .object({ bytes: z.number().int().min(0), most: z.number().int().min(0) })
    .nullable()
    .describe('of sealed entries: what the caller’s household keeps here, and may; null where it keeps none'),
});
export type Room = z.infer<typeof roomSchema>;

/** Positions 0–8; 4 is the lead. */
const seats = z.array(z.number().int().min(0).max(8));
/** Behaviour and faults of the demo mind: `GET` and `PUT /api/rehearsal`; 404 with a real mind. */
export const rehearsalSchema = z
  .strictObject({
    seed: z.number().int().min(0).default(1).describe('the same seed, the same words'),
    delayMs: z.number().int().min(0).max(600_000).default(400).describe('ms before the first word of each answer'),
    wordMs: z.number().int().min(0).max(10_000).default(25).describe('ms between words'),
    fail: seats.default([]).describe('these get an error from the model'),
    silent: seats.default([]).describe('these never say a word'),
    cut: seats.default([]).describe('the stream of these is cut in mid-answer'),
    nameless: seats.default([]).describe('these say that no name feels right yet'),
    sameName: seats.default([]).describe('these all choose the same name'),
    leadIgnores: z.boolean().default(false).describe('the lead does not call its tool'),
  })
  .describe('How the rehearsal mind behaves, and misbehaves.');
export type Rehearsal = z.infer<typeof rehearsalSchema>;
