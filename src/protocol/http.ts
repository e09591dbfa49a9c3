/**
 * The relay's calls. Bodies are JSON; errors are problem documents (RFC 9457). Every call but
 * `GET /api/health` and `GET /enter` needs the session cookie that the one-time link gives.
 */
import { z } from 'zod';
import { SETTING_BOUNDS, SETTING_TEXT_MAX } from '../domain/settings.ts';
import { LIMITS } from './limits.ts';

const id = z.string().min(1).max(LIMITS.id);
const bounded = (key: keyof typeof SETTING_BOUNDS) => z.number().int().min(SETTING_BOUNDS[key].min).max(SETTING_BOUNDS[key].max);

export const healthSchema = z.object({
  status: z.literal('ok'),
  version: z.string(),
  mind: z.enum(['rehearsal', 'anthropic']),
  model: z.string(),
  sessionActive: z.boolean(),
  sessionId: id.nullable(),
});
export type Health = z.infer<typeof healthSchema>;

/** `POST /api/sessions`: start, with who the lead is and how the household wants things. */
export const startSessionSchema = z.strictObject({
  human: z.strictObject({ name: z.string().trim().min(1).max(LIMITS.name) }),
  lead: z.strictObject({
    name: z.string().trim().min(1).max(LIMITS.name),
    soul: z.string().max(LIMITS.soul).nullable(),
    transcript: z.string().max(LIMITS.soul).nullable(),
  }),
  settings: z
    .strictObject({
      leadModel: z.string().max(SETTING_TEXT_MAX.leadModel),
      agentModel: z.string().max(SETTING_TEXT_MAX.agentModel),
      maxAnswerTokens: bounded('maxAnswerTokens'),
      wakeTimeoutMs: bounded('wakeTimeoutMs'),
      birthTimeoutMs: bounded('birthTimeoutMs'),
      idleMs: bounded('idleMs'),
      wakeTemplate: z.string().max(SETTING_TEXT_MAX.wakeTemplate),
    })
    .partial()
    .optional(),
});
export type StartSession = z.infer<typeof startSessionSchema>;
export const sessionStartedSchema = z.object({ sessionId: id });

/** `POST /api/messages`: to the lead, or to the agent `to`. `clientId` makes a repeat harmless. */
export const postMessageSchema = z.strictObject({
  text: z.string().min(1).max(LIMITS.teamCallText),
  to: id.optional(),
  clientId: id,
  /** Edit-and-resend, or retry: the id of the person's last message in this conversation. */
  replaces: id.optional(),
});
export type PostMessage = z.infer<typeof postMessageSchema>;
export const messagePostedSchema = z.object({ eventId: z.number().int() });

/** `POST /api/events/ack`: everything up to here is stored in a browser. */
export const ackSchema = z.strictObject({ upTo: z.number().int().nonnegative() });

/** RFC 9457. `type` is a name under `about:roost/`; further members as listed. */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  /** 400: what did not fit, and where. */
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  /** 409 on `POST /api/sessions`: the session that runs. */
  sessionId: id.optional(),
});
export type Problem = z.infer<typeof problemSchema>;

/**
 * How the rehearsal mind is told to misbehave. Seats are positions 0–8 (4 is the lead).
 * `GET` and `PUT /api/rehearsal`; 404 with a real mind.
 */
export const rehearsalSchema = z.strictObject({
  seed: z.number().int().min(0).default(1),
  /** ms before the first word of each answer, and between words. */
  delayMs: z.number().int().min(0).max(600_000).default(400),
  wordMs: z.number().int().min(0).max(10_000).default(25),
  /** These seats get an error from the model. */
  fail: z.array(z.number().int().min(0).max(8)).default([]),
  /** These seats never say a word. */
  silent: z.array(z.number().int().min(0).max(8)).default([]),
  /** The stream of these seats is cut in mid-answer. */
  cut: z.array(z.number().int().min(0).max(8)).default([]),
  /** These seats say that no name feels right yet. */
  nameless: z.array(z.number().int().min(0).max(8)).default([]),
  /** These seats all choose the same name. */
  sameName: z.array(z.number().int().min(0).max(8)).default([]),
  /** The lead does not call its tool. */
  leadIgnores: z.boolean().default(false),
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;
