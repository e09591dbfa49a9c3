/**
 * Limits and costs of agents on the wire, as JSON and as YAML, under the names that other products
 * use.
 *
 * A household has defaults for everything. An agent's configuration contains only what differs.
 * Bounds come from the domain.
 */
import { z } from 'zod';
import { isRecord } from '../domain/platform/json.ts';
import { SETTING_TEXT_MAX } from '../domain/settings.ts';
import { NO_GRANTS, grants, programsAtOnce } from './grants.ts';
import { namedVersionSchema, versionSchema } from './version.ts';
import { INTERVAL_BOUNDS, OFFSET_BOUNDS } from '../domain/schedule/timing.ts';
import { DREAM_CHOICES } from '../domain/dreams.ts';
import { NUMBERS, type NumberName } from '../domain/setting-table.ts';
import {
  BUDGET_BOUNDS,
  DEFAULT_LIMITS,
  isClockTime,
  isTimeZone,
  readDateTime,
  TEAM_EVENTS,
} from '../domain/guardrails.ts';

/** Maximum number of a board's columns, and characters of each. */
const PROJECT_TEXTS = 50;
const PROJECT_TEXT_MAX = 80;

const bounded = (name: NumberName) => z.number().int().min(NUMBERS[name].min).max(NUMBERS[name].max);
const clockTime = z.string().refine(isClockTime, 'a time of day as HH:MM, from 00:00 to 23:59');

const dateTime = z
  .string()
  .refine((text) => readDateTime(text) !== null, 'a date and a time such as 2026-12-24T18:00')
  .describe('in the household’s time zone; with `Z` or an offset, that exact moment');
const label = z.string().max(80).default('');

const recurringBlackoutSchema = z.strictObject({
  type: z.literal('recurring').exactOptional().describe('may be left out'),
  label,
  start_time: clockTime,
  end_time: clockTime.describe(
    'if it is not after the start, it is on the next day: 22:00–06:00 is a night, 00:00–00:00 a whole day',
  ),
  days: z
    .array(z.number().int().min(0).max(6))
    .default([])
    .describe('days on which the blackout begins, 0 is Sunday; empty: every day'),
});

const oneOffBlackoutSchema = z
  .strictObject({ type: z.literal('one_off'), label, start_time: dateTime, end_time: dateTime })
  .refine(
    ({ start_time, end_time }) => (readDateTime(start_time)?.wall ?? 0) < (readDateTime(end_time)?.wall ?? Infinity),
    { path: ['end_time'], error: 'must be later than start_time' },
  );

/** Hours in which an agent is not woken: weekly in local time of the household, or once. */
const blackoutSchema = z.discriminatedUnion('type', [recurringBlackoutSchema, oneOffBlackoutSchema]);

const coordination = {
  wakes_enabled: z.boolean().describe('false: only the person wakes the agent'),
  max_concurrent_pulse_sessions: bounded('max_concurrent_pulse_sessions'),
  wake_guardrails: z
    .strictObject({
      cooldown_seconds: bounded('cooldown_seconds'),
      max_daily_session_minutes: bounded('max_daily_session_minutes'),
      max_wakes_per_day: bounded('max_wakes_per_day'),
      max_wakes_per_pair_per_day: bounded('max_wakes_per_pair_per_day'),
      max_wakes_per_session: bounded('max_wakes_per_session').describe(
        'calls of `wake_agent` in one session of the caller',
      ),
    })
    .partial(),
  blackouts: z.array(blackoutSchema).max(20),
  sleep_events: z.array(z.enum(TEAM_EVENTS)).describe('events that set the agent’s sleeping flag'),
  wake_events: z
    .array(z.enum(TEAM_EVENTS))
    .describe('events that wake the agent, through the gate; an event in both lists wakes it'),
  may_put_others_to_sleep: z.boolean().describe('the agent has the tools that set the sleeping flag of others'),
  ...grants,
  may_propose_routines: z
    .boolean()
    .describe(
      'the agent has the tool that proposes a routine to the person; a proposed routine does not run before the person approves it',
    ),
  note_before_sleep: z
    .boolean()
    .describe(
      'before the agent sleeps it may note what matters, if the person said at least six things to it in the session',
    ),
  note_cents: bounded('note_cents').describe(
    'US cents that such a note may cost at most, each request counted at its highest price',
  ),
  dreams: z
    .enum(DREAM_CHOICES)
    .describe(
      'off: the agent does not dream by itself; propose: at most one dream a night, which the person adopts or discards; adopt: the relay adopts it at once',
    ),
  dream_hour: bounded('dream_hour').describe(
    'the hour from which a dream of the night may begin, in the household’s time',
  ),
  daily_budget_usd: z
    .number()
    .min(BUDGET_BOUNDS.agent.min)
    .max(BUDGET_BOUNDS.agent.max)
    .nullable()
    .describe('US dollars a day for the agent’s model requests; null: only the household’s budget applies'),
};

/** Limits of an agent's own runs, for all its routines. */
const pulseLimits = {
  pulse_container_timeout_ms: bounded('pulse_container_timeout_ms').describe(
    'ms that a run may take, if its routine sets no other limit',
  ),
  pulse_busy_wait_ms: bounded('pulse_busy_wait_ms').describe(
    'ms that a run waits for the end of its agent’s turn; after that it is skipped as `agent-busy`',
  ),
  pulse_max_consecutive_skips: bounded('pulse_max_consecutive_skips').describe(
    'skips or failures in a row after which a routine has a warning; a run clears it',
  ),
  pulse_max_turns: bounded('pulse_max_turns').describe('model requests of one run, if its routine sets no other limit'),
};
const optionalPulseLimits = {
  pulse_container_timeout_ms: pulseLimits.pulse_container_timeout_ms.optional(),
  pulse_busy_wait_ms: pulseLimits.pulse_busy_wait_ms.optional(),
  pulse_max_consecutive_skips: pulseLimits.pulse_max_consecutive_skips.optional(),
  pulse_max_turns: pulseLimits.pulse_max_turns.optional(),
};

/**
 * An agent's default routine, as part of its settings. The same routine is also in the list of
 * routines.
 */
const pulse = {
  pulse_enabled: z.boolean().describe('the agent checks at an interval whether something waits for it'),
  pulse_interval_minutes: z.number().int().min(INTERVAL_BOUNDS.min).max(INTERVAL_BOUNDS.max),
  pulse_offset_minutes: z
    .number()
    .int()
    .min(OFFSET_BOUNDS.min)
    .max(OFFSET_BOUNDS.max)
    .nullable()
    .describe('minutes after the full interval; null: the relay chooses an offset apart from those of other agents'),
  pulse_blackouts: z.array(blackoutSchema).max(20).describe('the same as `coordination.blackouts`'),
};
/** Settings for work on projects. They are used once the agent has a project. */
const ofProjects = {
  pulse_columns: z
    .array(z.string().min(1).max(PROJECT_TEXT_MAX))
    .max(PROJECT_TEXTS)
    .describe(
      'columns of its projects from which the agent’s default routine takes tasks, each by its id, name or kind; used if that routine sets no `pulse_columns`; empty: those that are ready',
    ),
  pulse_transitions_to: z
    .array(z.string().min(1).max(PROJECT_TEXT_MAX))
    .max(PROJECT_TEXTS)
    .nullable()
    .describe('columns to which the agent may move tasks, each by its kind, id or name; null: any; empty: none'),
  planning_model: z
    .string()
    .min(1)
    .max(SETTING_TEXT_MAX.agentModel)
    .nullable()
    .describe('the model of its runs on projects; null: the household’s, or else the agent’s own'),
  executor_model: z
    .string()
    .min(1)
    .max(SETTING_TEXT_MAX.agentModel)
    .nullable()
    .describe('the model that carries out a plan; null: the household’s, or else the agent’s own'),
};
const optionalOfProjects = z.object(ofProjects).partial().shape;

const pulseSettingsSchema = z.object({ ...pulse, ...pulseLimits, ...ofProjects });
export type PulseSettings = z.infer<typeof pulseSettingsSchema>;
/**
 * Accepts blackouts as other products write them: one-off ones with `start` and `end`, and days as
 * `days_of_week`.
 */
function asBlackouts(said: unknown): unknown {
  if (!Array.isArray(said)) return said;
  return said.map((blackout: unknown) => {
    if (!isRecord(blackout)) return blackout;
    const { start, end, days_of_week, ...rest } = blackout;
    return {
      ...rest,
      ...(start === undefined || 'start_time' in rest ? {} : { start_time: start }),
      ...(end === undefined || 'end_time' in rest ? {} : { end_time: end }),
      ...(days_of_week === undefined || 'days' in rest ? {} : { days: days_of_week }),
    };
  });
}
/** What an API client may change. Fields that are left out stay as they are. */
const pulseChanges = {
  pulse_enabled: pulse.pulse_enabled.optional(),
  pulse_interval_minutes: pulse.pulse_interval_minutes.optional(),
  pulse_offset_minutes: pulse.pulse_offset_minutes.optional(),
  pulse_blackouts: z.preprocess(asBlackouts, pulse.pulse_blackouts.optional()),
};
export type PulseChanges = z.infer<z.ZodObject<typeof pulseChanges>>;

/**
 * `GET` and `PUT /v1/agents/{agentId}/config`. The household's value applies to fields that are
 * left out.
 */
export const agentConfigSchema = z.strictObject({
  coordination: z.strictObject(coordination).partial().default({}),
  ...optionalPulseLimits,
  ...optionalOfProjects,
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;
export type AgentConfigInput = z.input<typeof agentConfigSchema>;

/**
 * `GET` and `PUT /v1/config`: the household's defaults, and settings that only a household has.
 * Roost's default applies to fields that are left out.
 */
export const householdConfigSchema = z.strictObject({
  coordination: z.strictObject(coordination).partial().default({}),
  wakes_enabled: z.boolean().optional().describe('false pauses all wakes but the person’s own'),
  time_zone: z
    .string()
    .refine(isTimeZone, 'a time zone such as Europe/Berlin')
    .optional()
    .describe(
      'left out: the time zone of the browser in which the household began, or the relay’s own if that is not known',
    ),
  flood_guard: z
    .strictObject({ max_wakes: bounded('flood_max_wakes'), window_seconds: bounded('flood_window_seconds') })
    .partial()
    .optional(),
  daily_budget_usd: z
    .number()
    .min(BUDGET_BOUNDS.household.min)
    .max(BUDGET_BOUNDS.household.max)
    .nullable()
    .optional()
    .describe('US dollars a day for all model requests; null: no limit'),
  ...optionalPulseLimits,
  sleep_wait_seconds: bounded('sleep_wait_seconds')
    .optional()
    .describe('seconds for which a call of a sleeping agent is held before it is answered with “try again”'),
  programs_at_once: programsAtOnce.optional(),
  planning_model: z
    .string()
    .min(1)
    .max(SETTING_TEXT_MAX.agentModel)
    .nullable()
    .optional()
    .describe('the model of runs on projects; null: each agent’s own'),
  executor_model: z
    .string()
    .min(1)
    .max(SETTING_TEXT_MAX.agentModel)
    .nullable()
    .optional()
    .describe('the model that carries out a plan; null: each agent’s own'),
});
export type HouseholdConfig = z.infer<typeof householdConfigSchema>;
export type HouseholdConfigInput = z.input<typeof householdConfigSchema>;

/** The effective configuration, with all defaults filled in. It is itself a valid configuration. */
const effectiveConfigSchema = z.object({
  coordination: z.strictObject({
    ...coordination,
    wake_guardrails: coordination.wake_guardrails.required(),
    toolsets: coordination.toolsets.required(),
  }),
  wakes_enabled: z.boolean(),
  time_zone: z.string(),
  flood_guard: z.object({ max_wakes: z.number(), window_seconds: z.number() }),
  daily_budget_usd: z.number().nullable(),
  sleep_wait_seconds: z.number(),
  programs_at_once: programsAtOnce,
  ...pulseLimits,
});
export type EffectiveConfig = z.infer<typeof effectiveConfigSchema>;

/** Applies to every agent if neither it nor the household has set anything. */
export const DEFAULT_COORDINATION: EffectiveConfig['coordination'] = {
  wakes_enabled: DEFAULT_LIMITS.enabled,
  max_concurrent_pulse_sessions: DEFAULT_LIMITS.maxConcurrentSessions,
  wake_guardrails: {
    cooldown_seconds: DEFAULT_LIMITS.cooldownSeconds,
    max_daily_session_minutes: DEFAULT_LIMITS.maxDailySessionMinutes,
    max_wakes_per_day: DEFAULT_LIMITS.maxWakesPerDay,
    max_wakes_per_pair_per_day: DEFAULT_LIMITS.maxWakesPerPairPerDay,
    max_wakes_per_session: DEFAULT_LIMITS.maxWakesPerSession,
  },
  blackouts: [],
  sleep_events: [],
  wake_events: [],
  may_put_others_to_sleep: false,
  ...NO_GRANTS,
  may_propose_routines: true,
  note_before_sleep: true,
  note_cents: NUMBERS.note_cents.otherwise,
  dreams: 'off',
  dream_hour: NUMBERS.dream_hour.otherwise,
  daily_budget_usd: null,
};

const { shape: effective } = effectiveConfigSchema;
const beside = {
  effective: effectiveConfigSchema.describe('the settings that apply, with every default filled in'),
  version: versionSchema,
};
/** JSON answer of `GET` and `PUT /v1/agents/{agentId}/config`. */
export const agentConfigAnswerSchema = z.object({
  coordination: effective.coordination.describe(
    'the settings that apply to this agent, under the name that existing API clients read',
  ),
  ...pulseSettingsSchema.shape,
  own: agentConfigSchema.describe('the agent’s own settings'),
  ...beside,
});
export type AgentConfigAnswer = z.infer<typeof agentConfigAnswerSchema>;
/** JSON answer of `GET` and `PUT /v1/config`. */
export const householdConfigAnswerSchema = z.object({
  ...effective,
  own: householdConfigSchema.describe('the household’s own settings'),
  ...beside,
});
export type HouseholdConfigAnswer = z.infer<typeof householdConfigAnswerSchema>;

/** Lets a client send an answer back, changed: the fields beside the configuration are ignored. */
const answered = {
  own: z.unknown().optional().describe('ignored'),
  effective: z.unknown().optional().describe('ignored'),
  version: namedVersionSchema,
  whole: z
    .boolean()
    .optional()
    .describe(
      'true: replaces all settings, and a field that is left out takes its default; otherwise a field that is left out keeps its value',
    ),
};

/**
 * The two event lists under the names that other teams' programs use, beside `coordination` or
 * inside it.
 */
const camelCase = {
  sleepEvents: coordination.sleep_events.optional().describe('the same as `sleep_events`'),
  wakeEvents: coordination.wake_events.optional().describe('the same as `wake_events`'),
};
const spelled = z
  .strictObject({ ...coordination, ...camelCase })
  .partial()
  .default({});
type Spelled = z.infer<typeof spelled>;

/** Merges the spellings into one name. If two of them differ, the request is refused. */
function named(
  {
    coordination: { sleepEvents, wakeEvents, ...rest },
    ...beside
  }: Pick<Spelled, 'sleepEvents' | 'wakeEvents'> & { coordination: Spelled },
  context: z.RefinementCtx,
): AgentConfig['coordination'] {
  const one = (name: 'sleep_events' | 'wake_events', ...said: readonly Spelled['sleep_events'][]) => {
    const [first, ...others] = said.filter((list) => list !== undefined);
    if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first)))
      context.addIssue({
        code: 'custom',
        path: ['coordination', name],
        message: 'is given twice, with different values',
      });
    return first === undefined ? {} : { [name]: first };
  };
  return {
    ...rest,
    ...one('sleep_events', rest.sleep_events, sleepEvents, beside.sleepEvents),
    ...one('wake_events', rest.wake_events, wakeEvents, beside.wakeEvents),
  };
}

/** `PUT /v1/agents/{agentId}/config` */
export const setAgentConfigSchema = agentConfigSchema
  .extend({
    ...answered,
    ...camelCase,
    ...pulseChanges,
    pulse_one_offs: z
      .array(z.unknown())
      .max(0, 'are one-off routines here: add each as a routine, and leave this empty')
      .optional()
      .describe('empty: the schedule is a one-off routine'),
    coordination: spelled,
  })
  .transform((answer, context) => {
    const { version, whole = false } = answer;
    const pulse = z.object(pulseChanges).parse(answer);
    const config: AgentConfig = {
      ...z.object({ ...optionalPulseLimits, ...optionalOfProjects }).parse(answer),
      coordination: named(answer, context),
    };
    return { config, pulse, version, whole };
  });
const ONE_ALONE = 'can be set for a single agent only';
/** `PUT /v1/config` */
export const setHouseholdConfigSchema = householdConfigSchema
  .extend({ ...answered, ...camelCase, coordination: spelled })
  .transform((answer, context) => {
    const { version, whole = false, ...said } = answer;
    const config: HouseholdConfig & Partial<typeof said> = { ...said, coordination: named(said, context) };
    if (config.coordination.shell_without_sandbox === true)
      context.addIssue({ code: 'custom', path: ['coordination', 'shell_without_sandbox'], message: ONE_ALONE });
    delete config.own;
    delete config.effective;
    delete config.sleepEvents;
    delete config.wakeEvents;
    return { config, version, whole };
  });
