/**
 * Schedules on the wire: what is due without the person. A routine sets an agent to work. A
 * reminder returns a message to the agent that left it. A script is run by the relay, and wakes an
 * agent only if it fails.
 */
import { z } from 'zod';
import type { ProjectId, RunId, ScheduleId } from '../domain/ids.ts';
import { isClockTime, isTimeZone } from '../domain/guardrails.ts';
import { NUMBERS } from '../domain/setting-table.ts';
import { isExactHost } from '../domain/network.ts';
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
import { argumentText } from './outward-texts.ts';
import { namedVersionSchema, versionSchema } from './version.ts';
import { sentence } from '../domain/names.ts';

const id = z.string().min(1).max(LIMITS.id);
const zone = z
  .string()
  .refine(isTimeZone, 'a time zone such as Europe/Berlin')
  .nullable()
  .describe('null: the household’s time zone');

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
  /** Columns that a routine names, and characters of each. */
  columns: 50,
  column: 100,
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
          .describe('minutes; null: the relay chooses an offset apart from those of other agents'),
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
  .describe('The due moments. They follow from this field alone, never from the last run.');

/** Context from earlier work that an agent receives for a run. */
export const CONTEXTS = ['none', 'last_session', 'own_runs'] as const;
const context = z
  .enum(CONTEXTS)
  .default('none')
  .describe(
    'the earlier words that the agent is given: none, its last conversation, or the last words of its last three runs',
  );

const name = z.string().trim().min(1).max(SCHEDULE_BOUNDS.name).describe('unique among the schedules of its agent');
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
  model: model.describe('null: the agent’s own model'),
  planningModel: model.describe(
    'model of a run’s first request, and of all requests of a run on projects; null: `model`',
  ),
  executorModel: model.describe(
    'model of the requests after tools were used, and of the executors that a run on projects starts; null: `model`',
  ),
  tools: z
    .array(z.string().min(1).max(100))
    .max(SCHEDULE_BOUNDS.tools)
    .nullable()
    .default(null)
    .describe('names of the tools that the agent may use; null: all that it has; empty: none'),
  columns: z
    .array(z.string().min(1).max(80))
    .max(0, 'is not used any more: leave it empty, and set `pulse_columns`')
    .default([])
    .describe('always empty; see `pulse_columns`'),
  pulse_columns: z
    .array(z.string().min(1).max(SCHEDULE_BOUNDS.column))
    .max(SCHEDULE_BOUNDS.columns)
    .nullable()
    .default(null)
    .describe(
      'columns of its projects from which a run takes tasks, each by its id, name or kind, and of any kind but done; null: those that are ready; empty: none',
    ),
  timeoutMs: z
    .number()
    .int()
    .min(SCHEDULE_BOUNDS.timeoutMs.min)
    .max(SCHEDULE_BOUNDS.timeoutMs.max)
    .nullable()
    .default(null)
    .describe('ms from the run’s first request; null: the agent’s `pulse_container_timeout_ms`'),
  maxConcurrent: bounded(SCHEDULE_BOUNDS.maxConcurrent).describe('concurrent runs of the routine'),
  maxTurns: z
    .number()
    .int()
    .min(NUMBERS.pulse_max_turns.min)
    .max(NUMBERS.pulse_max_turns.max)
    .nullable()
    .default(null)
    .describe('model requests of one run; null: the agent’s `pulse_max_turns`'),
  context,
  catch_up: z
    .enum(CATCH_UP)
    .default('once')
    .describe('moments that the relay runs late after it was down: none, the newest one, or each of the last minutes'),
  when: z
    .enum(['always', 'something_waits'])
    .default('always')
    .describe('something_waits: the relay asks no model if nothing waits for the agent'),
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
  script: argumentText(SCHEDULE_BOUNDS.path)
    .min(1)
    .describe('path of a file in the agent’s workspace; only this file is pinned, not files that it reads or calls'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe(
      'hash of the text that the person approved, written by the relay. That text runs. Once the file differs, the relay asks the person. Left out when it is set: the file’s current text is approved',
    ),
  hosts: exactHosts.describe(
    'public hosts that the script may reach from the sandbox, on ports 80 and 443 unless a port is given; left out: no network',
  ),
  own_hosts: exactHosts.describe(
    'hosts of the relay’s own machine and networks that the script may also reach; only the person sets them',
  ),
  timing: timingSchema,
  on_failure: z.enum(['wake_agent', 'ignore']).default('ignore'),
  overlap: z
    .enum(['skip', 'wait'])
    .default('wait')
    .describe('what happens if the script is due again while it runs; at most one moment waits'),
  timeoutMs: bounded(SCHEDULE_BOUNDS.scriptMs).describe(
    'ms after which the relay ends the script, which then has failed',
  ),
  context,
  enabled: z.boolean().default(true),
};

export const routineSchema = z.strictObject(routine);
/** A schedule, as a page or an agent writes it. */
export const scheduleSchema = z
  .discriminatedUnion('kind', [routineSchema, z.strictObject(reminder), z.strictObject(script)])
  .describe('What is due without the person.');
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
  homeRelay: id.describe('the relay at which the schedule is due, as a sync participant of the household'),
  turn: z
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe('how often the schedule changed its home; a record with a lower number is older, whatever its stamp'),
  wanted: id
    .nullable()
    .default(null)
    .describe('another relay of the household that asks for the schedule; null: none does'),
  since: ms
    .nullable()
    .default(null)
    .describe(
      'moments up to then are in the history of the relay that released the schedule; null: no relay has released it',
    ),
  removed: z.boolean().describe('the schedule was removed'),
  position: z.number().int().nonnegative().default(0).describe('place in the person’s order'),
  createdAt: ms.optional().describe('when the schedule was set; left out: not known'),
  updatedAt: ms.optional().describe('when the schedule was last changed; left out: not known'),
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
    .describe('wake: nothing was due; somebody woke the agent, and `name` is who'),
  dueAt: ms,
  state: occurrenceStateSchema,
  reason: z.enum(SKIP_REASONS).nullable().describe('why the moment was skipped'),
  late: z.boolean().describe('the run was late, after the relay had been down'),
  runId: idOf<RunId>(id).nullable(),
  startedAt: ms.nullable(),
  endedAt: ms.nullable(),
  said: z.string().nullable().describe('the agent’s last words, or the end of the script’s output'),
  detail: z.string().nullable().describe('how it ended, as a sentence for people'),
  tokens: z.number().int().nonnegative().nullable(),
  costMicroUsd: z.number().int().nonnegative().nullable(),
  estimated: z.boolean().describe('some cost and tokens are not known: the cost is an upper bound'),
  continuedBy: idOf<RunId>(id).nullable().describe('the later run with which the person continued this one'),
});
export type Occurrence = z.infer<typeof occurrenceSchema>;

/** A schedule as a page sees it. */
export const scheduledSchema = z.object({
  scheduleId: idOf<ScheduleId>(id),
  version: versionSchema,
  schedule: scheduleSchema,
  nextAt: ms.nullable().describe('null: with these settings, never'),
  offset: z
    .number()
    .int()
    .nonnegative()
    .nullable()
    .describe('of an interval: the minutes of its offset, set or chosen by the relay'),
  pausedWhy: z
    .string()
    .nullable()
    .describe('why the schedule is paused: it failed too often in a row; null: it is not'),
  warning: z.string().nullable().describe('the schedule was skipped or failed too often in a row; null: it was not'),
  skippedInARow: z.number().int().nonnegative(),
  failedInARow: z.number().int().nonnegative(),
  position: z.number().int().nonnegative().describe('place in the person’s order'),
  created_at: ms.nullable().describe('when the schedule was set; null: not known'),
  updated_at: ms.nullable().describe('when the schedule was last changed; null: not known'),
  running: z.number().int().nonnegative(),
  elsewhere: z
    .enum(['due', 'asked'])
    .nullable()
    .describe(
      'due: it is due at another relay of the household, not here; asked: the other relay is asked to release it; null: it is due here',
    ),
  waits: z
    .object({
      since: ms.describe('when the reminder was due, or the script failed'),
      reason: z.enum(SKIP_REASONS),
      detail: z.string().nullable().describe('a sentence for people'),
    })
    .optional()
    .describe('a due reminder, or the news that a script failed, waits for its agent; left out: nothing waits'),
  projectIds: z.array(idOf<ProjectId>(id)).optional().describe('projects on which the routine works; left out: none'),
});
export type Scheduled = z.infer<typeof scheduledSchema>;

/** A routine that an agent proposes. It does not run before the person approves it. */
export const proposalSchema = z.object({
  proposalId: id,
  agentId: common.agentId,
  why: z.string().describe('the agent’s own words'),
  routine: z.discriminatedUnion('kind', [z.strictObject(routine)]),
  madeAt: ms,
});
export type Proposal = z.infer<typeof proposalSchema>;
