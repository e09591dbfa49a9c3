/**
 * Schedules on the wire: what is due without the person. A routine sets an agent to work. A
 * reminder returns a message to the agent that left it. A script is run by the relay, and wakes an
 * agent only if it fails.
 */
import { z } from 'zod';
import type { RunId, ScheduleId } from '../domain/ids.ts';
import { isClockTime, isTimeZone, PULSE_BOUNDS } from '../domain/guardrails.ts';
import { isExactHost } from '../domain/network.ts';
import { COPY_ORDER_CHARS } from '../domain/schedule/copy-order.ts';
import {
  CATCH_UP,
  END_STATES,
  INTERVAL_BOUNDS,
  OFFSET_BOUNDS,
  OPEN_STATES,
  SKIP_REASONS,
} from '../domain/schedule/timing.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { startSessionSchema } from './http.ts';
import { languageSchema } from './language.ts';
import { namedVersionSchema, versionSchema } from './version.ts';
import { sentence } from '../domain/names.ts';

const id = z.string().min(1).max(LIMITS.id);
const zone = z
  .string()
  .refine(isTimeZone, 'a time zone such as Europe/Berlin')
  .nullable()
  .describe('null: the household’s');

/** Why no script runs: there is no sandbox, and the relay was started without `--scripts`. */
export const SCRIPTS_OFF = sentence`Scripts are off: there is no sandbox on the relay’s machine. Install bubblewrap there, or start the relay with --scripts to let it run them without one.`;

/** Why a schedule is off: the person has not approved it at this relay. */
export const WAITS_FOR_YES = sentence`It came from a copy, another device or another relay, and waits for your yes.`;

export const SCHEDULE_BOUNDS = {
  name: 80,
  instructions: 50_000,
  message: 20_000,
  /** Characters of an agent's reason for a routine. */
  why: 1_000,
  /** ms that a run may take. */
  timeoutMs: { min: 1_000, max: 3_600_000 },
  /** ms that a script may take. */
  scriptMs: { min: 1_000, max: 600_000, otherwise: 60_000 },
  maxConcurrent: { min: 1, max: 10, otherwise: 1 },
  tools: 100,
  path: 1_000,
  /** Hosts that one script may reach, per list. */
  hosts: 20,
} as const;

export const timingSchema = z
  .discriminatedUnion('kind', [
    z
      .strictObject({
        kind: z.literal('every'),
        minutes: z.number().int().min(INTERVAL_BOUNDS.min).max(INTERVAL_BOUNDS.max),
        offset: z
          .number()
          .int()
          .min(OFFSET_BOUNDS.min)
          .max(OFFSET_BOUNDS.max)
          .nullable()
          .default(null)
          .describe('minutes; null: given by the relay, apart from the others’'),
      })
      .refine(({ minutes, offset }) => offset === null || offset < minutes, {
        path: ['offset'],
        error: 'must be shorter than the interval',
      }),
    z.strictObject({
      kind: z.literal('cron'),
      cron: z.string().min(1).max(200).describe('five fields: minute, hour, day, month, weekday'),
      zone: zone.default(null),
    }),
    z.strictObject({
      kind: z.literal('weekly'),
      days: z.array(z.number().int().min(0).max(6)).max(7).default([]).describe('0 is Sunday; empty: every day'),
      time: z.string().refine(isClockTime, 'a time of day as HH:MM, from 00:00 to 23:59'),
      zone: zone.default(null),
    }),
    z.strictObject({ kind: z.literal('once'), at: ms.describe('ms since the epoch') }),
  ])
  .describe('When it is due. The moments follow from this alone, never from when it ran last.');

/** Context from earlier work that an agent receives for a run. */
export const CONTEXTS = ['none', 'last_session', 'own_runs'] as const;
const context = z
  .enum(CONTEXTS)
  .default('none')
  .describe(
    'what its agent is given of before: nothing, its last conversation, or the last words of its last three runs',
  );

const name = z
  .string()
  .trim()
  .min(1)
  .max(SCHEDULE_BOUNDS.name)
  .describe('unique among what is scheduled for its agent');
const bounded = ({ min, max, otherwise }: { min: number; max: number; otherwise: number }) =>
  z.number().int().min(min).max(max).default(otherwise);
const model = z.string().min(1).max(200).nullable().default(null);

const routine = {
  kind: z.literal('routine'),
  agentId: common.agentId,
  name,
  instructions: z
    .string()
    .max(SCHEDULE_BOUNDS.instructions)
    .describe('Markdown, put into the system prompt as it is; `{{AGENT_NAME}}` is filled in'),
  timing: timingSchema,
  model: model.describe('null: the agent’s own'),
  planningModel: model.describe('of the first request of a run; null: `model`'),
  executorModel: model.describe('of the requests after tools were used; null: `model`'),
  tools: z
    .array(z.string().min(1).max(100))
    .max(SCHEDULE_BOUNDS.tools)
    .nullable()
    .default(null)
    .describe('names of the tools that it may use; null: all that the agent has'),
  columns: z
    .array(z.string().min(1).max(80))
    .max(0, 'there are no tasks yet, and so no columns: leave it empty')
    .default([])
    .describe('columns of tasks; empty, as there are no tasks yet'),
  timeoutMs: z
    .number()
    .int()
    .min(SCHEDULE_BOUNDS.timeoutMs.min)
    .max(SCHEDULE_BOUNDS.timeoutMs.max)
    .nullable()
    .default(null)
    .describe('ms from its first request on; null: its agent’s `pulse_container_timeout_ms`'),
  maxConcurrent: bounded(SCHEDULE_BOUNDS.maxConcurrent).describe('runs of it at once'),
  maxTurns: z
    .number()
    .int()
    .min(PULSE_BOUNDS.pulse_max_turns.min)
    .max(PULSE_BOUNDS.pulse_max_turns.max)
    .nullable()
    .default(null)
    .describe('model requests of one run; null: its agent’s `pulse_max_turns`'),
  context,
  catch_up: z
    .enum(CATCH_UP)
    .default('once')
    .describe('what is made up for when the relay was away: nothing, the newest moment, or each of the last minutes'),
  when: z
    .enum(['always', 'something_waits'])
    .default('always')
    .describe('something_waits: where nothing is there for it, no model is asked'),
  enabled: z.boolean().default(true),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i)
    .nullable()
    .default(null),
};
const reminder = {
  kind: z.literal('reminder'),
  agentId: common.agentId,
  name,
  message: z.string().min(1).max(SCHEDULE_BOUNDS.message),
  timing: timingSchema,
  context,
};
const exactHosts = z
  .array(z.string().refine(isExactHost, 'a host by its name: example.org or example.org:8443'))
  .max(SCHEDULE_BOUNDS.hosts)
  .optional();
const script = {
  kind: z.literal('script'),
  agentId: common.agentId,
  name,
  script: z
    .string()
    .min(1)
    .max(SCHEDULE_BOUNDS.path)
    .describe('path of a file in the agent’s workspace; it alone is pinned, not what it reads or calls'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe(
      'of the text that the person accepted, written by the relay. That text runs; once the file says something else, the person is asked about it. Left out where it is set: the file as it lies is accepted',
    ),
  hosts: exactHosts.describe(
    'public hosts that it may reach in the sandbox, on the ports 80 and 443 where none is said; left out: no network',
  ),
  own_hosts: exactHosts.describe(
    'hosts of the relay’s own machine and networks that it may reach besides; the person alone names them',
  ),
  timing: timingSchema,
  on_failure: z.enum(['wake_agent', 'ignore']).default('ignore'),
  overlap: z.enum(['skip', 'wait']).default('wait').describe('where it is due again while it runs; one waits at most'),
  timeoutMs: bounded(SCHEDULE_BOUNDS.scriptMs).describe('ms after which it is ended, and has failed'),
  context,
  enabled: z.boolean().default(true),
};

/** A schedule, as a page or an agent writes it. */
export const scheduleSchema = z
  .discriminatedUnion('kind', [z.strictObject(routine), z.strictObject(reminder), z.strictObject(script)])
  .describe('What is due without anybody there.');
export type Schedule = z.infer<typeof scheduleSchema>;
/** `PUT /v1/pulse-routines/{scheduleId}` */
export const changeScheduleSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...routine, version: namedVersionSchema }),
  z.strictObject({ ...reminder, version: namedVersionSchema }),
  z.strictObject({ ...script, version: namedVersionSchema }),
]);
type ScheduleKind = Schedule['kind'];
export type ScheduleOf<Kind extends ScheduleKind> = Extract<Schedule, { kind: Kind }>;

/**
 * A schedule as its record stores it.
 *
 * `homeRelay` is the only relay at which it is due, so a household with two relays never runs it
 * twice. Another relay requests it with `wanted`. The home relay then releases it, and names the
 * other as its home with the next `turn`. Only the person can say that the home relay no longer
 * exists.
 */
export const scheduleRecordSchema = z.strictObject({
  homeRelay: id.describe('the relay’s side of the household at which it is due'),
  turn: z
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe('how often it changed its home; what says less is of before, whatever its stamp'),
  wanted: id.nullable().default(null).describe('another side of the household, which asks for it; null: none does'),
  since: ms
    .nullable()
    .default(null)
    .describe('moments up to then are in the account of the relay that let go of it; null: none has'),
  removed: z.boolean().describe('it was taken away'),
  position: z.number().int().nonnegative().default(0).describe('its place in the person’s order'),
  createdAt: ms.optional().describe('when it was set; left out: not known'),
  updatedAt: ms.optional().describe('when it was changed last; left out: not known'),
  schedule: scheduleSchema,
});
export type ScheduleRecord = z.infer<typeof scheduleRecordSchema>;

export const occurrenceStateSchema = z.enum([...OPEN_STATES, ...END_STATES]);

/** One due moment, and its outcome. */
export const occurrenceSchema = z.object({
  scheduleId: idOf<ScheduleId>(id),
  agentId: common.agentId,
  name: z.string(),
  kind: z
    .enum(['routine', 'reminder', 'script', 'wake'])
    .describe('wake: nothing was due; somebody woke it, and `name` is who'),
  dueAt: ms,
  state: occurrenceStateSchema,
  reason: z.enum(SKIP_REASONS).nullable().describe('why it was skipped'),
  late: z.boolean().describe('it was made up for'),
  runId: idOf<RunId>(id).nullable(),
  startedAt: ms.nullable(),
  endedAt: ms.nullable(),
  said: z.string().nullable().describe('its last words, or the end of what a script wrote'),
  detail: z.string().nullable().describe('a sentence for people about how it ended'),
  tokens: z.number().int().nonnegative().nullable(),
  costMicroUsd: z.number().int().nonnegative().nullable(),
  estimated: z.boolean().describe('some of the cost, and of the tokens, is not known: the cost is at the most'),
  continuedBy: idOf<RunId>(id).nullable().describe('the later run that goes on with it, as the person let it'),
});
export type Occurrence = z.infer<typeof occurrenceSchema>;

/** A schedule as a page sees it. */
export const scheduledSchema = z.object({
  scheduleId: idOf<ScheduleId>(id),
  version: versionSchema,
  schedule: scheduleSchema,
  nextAt: ms.nullable().describe('null: never, as things are'),
  offset: z.number().int().nonnegative().nullable().describe('minutes, of an interval: its own, or what it was given'),
  pausedWhy: z.string().nullable().describe('it failed too often in a row; null: it goes on'),
  warning: z
    .string()
    .nullable()
    .describe('it was skipped or failed so often in a row that its agent is not well served; null: it is'),
  skippedInARow: z.number().int().nonnegative(),
  failedInARow: z.number().int().nonnegative(),
  position: z.number().int().nonnegative().describe('its place in the person’s order'),
  created_at: ms.nullable().describe('when it was set; null: not known'),
  updated_at: ms.nullable().describe('when it was changed last; null: not known'),
  running: z.number().int().nonnegative(),
  elsewhere: z
    .enum(['due', 'asked'])
    .nullable()
    .describe(
      'due: at another relay of the household, and so not here; asked: that one is asked to let go of it; null: here',
    ),
  waits: z
    .object({
      since: ms.describe('when it was due, or its script failed'),
      reason: z.enum(SKIP_REASONS),
      detail: z.string().nullable().describe('a sentence for people'),
    })
    .optional()
    .describe(
      'a reminder that was due, or the news that a script failed, waits for its agent; left out: nothing waits',
    ),
});
export type Scheduled = z.infer<typeof scheduledSchema>;

/** A routine that an agent proposes. It does not run before the person approves it. */
export const proposalSchema = z.object({
  proposalId: id,
  agentId: common.agentId,
  why: z.string().describe('its own words'),
  routine: z.discriminatedUnion('kind', [z.strictObject(routine)]),
  madeAt: ms,
});
export type Proposal = z.infer<typeof proposalSchema>;

/**
 * An agent snapshot: what an agent needs to work without a browser. A page leaves it with the
 * relay.
 */
export const standingCopySchema = z.strictObject({
  name: z.string().min(1).max(LIMITS.name),
  color: z.string().max(40),
  colorName: z.string().max(80),
  position: z.number().int().min(0).max(8),
  soul: z.string().max(LIMITS.soul).nullable(),
  transcript: z.string().max(LIMITS.messageText).nullable().describe('its last conversation'),
  human: z.string().min(1).max(LIMITS.name),
  language: languageSchema.optional(),
  lead: z.string().min(1).max(LIMITS.name),
  model: z.string().max(200).describe('that the person chose for it; empty: the relay’s own'),
  maxAnswerTokens: z.number().int().min(1).max(1_000_000),
  contextTokens: z.number().int().min(0).max(100_000_000).describe('that its model reads; 0: not known'),
  session: startSessionSchema.shape.settings.describe(
    'of the lead: how the household wants a session, where an application may start one',
  ),
});
export type StandingCopy = z.infer<typeof standingCopySchema>;

/** What the relay reports about an agent snapshot that it has. */
export const copyStandingSchema = z.object({
  agentId: common.agentId,
  leftAt: ms,
  version: id.describe(`as the page named it: by its first ${COPY_ORDER_CHARS} characters newer sorts after older`),
  bytes: z.number().int().nonnegative().describe('sealed'),
  soulChars: z.number().int().nonnegative(),
  transcriptChars: z.number().int().nonnegative(),
});
export type CopyStanding = z.infer<typeof copyStandingSchema>;
