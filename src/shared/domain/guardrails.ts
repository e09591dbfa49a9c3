/**
 * The rules of the wake gate: the ways to ask for a wake, the checks and their order, and the
 * limits with their defaults and bounds.
 */
import { NUMBERS } from './setting-table.ts';

/**
 * Every way to ask for a wake. The gate has a single caller, `server/agents/wakes/ask.ts`. A test
 * requires every new way to show that it passes there.
 */
export const WAKE_WAYS = [
  /** The person answered a tool call of the agent. The agent may already be awake. */
  'answer',
  'person',
  'wake_agent',
  'urgent_message',
  'thread_mention',
  'thread_added',
  'deferred',
  'schedule',
  'reminder',
  'script_failure',
  'api',
] as const;
export type WakeWay = (typeof WAKE_WAYS)[number];

/** Reasons an agent may give when it calls `wake_agent`. */
export const WAKE_REASONS = ['blocker', 'critical_finding', 'user_request'] as const;
export type WakeReason = (typeof WAKE_REASONS)[number];

/** In the order in which the gate makes them. The first check that fails decides. */
export const GATE_CHECKS = [
  'source_budget',
  'disabled',
  'cooldown',
  'daily',
  'pair',
  'blackout',
  'minutes',
  'concurrency',
  'idle',
  'flood',
] as const;
export type GateCheck = (typeof GATE_CHECKS)[number];

/**
 * `error`: the target was not asked. `deferred`: the gate asks again when the target's turn ends.
 * Neither uses a quota.
 */
export const WAKE_OUTCOMES = ['granted', 'suppressed', 'deferred', 'error'] as const;
export type WakeOutcome = (typeof WAKE_OUTCOMES)[number];

/**
 * `absent`: the agent is not in the running session, or no session runs. `paused`: it is, and its
 * sleeping flag is set. `driven`: only an API client drives it, which has no turns to begin.
 */
export type AgentState = 'absent' | 'driven' | 'paused' | 'idle' | 'busy';

/** The purpose of an agent's message. */
export const MESSAGE_TYPES = ['info', 'help_request', 'review_request', 'unblock'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];
/** The type as models read it. Null: models are not told the type. */
export const messageTypeText = (type: MessageType | undefined): string | null =>
  type === undefined || type === 'info' ? null : type.replace('_', ' ');

export const MESSAGE_PRIORITIES = ['normal', 'high', 'urgent'] as const;
export type MessagePriority = (typeof MESSAGE_PRIORITIES)[number];

/**
 * Events that may set an agent's sleeping flag, and events that may clear it. If one event is in
 * both lists of an agent, waking wins.
 */
const SLEEP_EVENTS = ['agent_started', 'removed_from_last_thread', 'last_thread_closed'] as const;
export type SleepEvent = (typeof SLEEP_EVENTS)[number];
const WAKE_EVENTS = ['added_to_any_thread', 'added_to_thread_first_time', 'mentioned'] as const;
export type WakeEvent = (typeof WAKE_EVENTS)[number];
/** Either list may contain any of these. */
export const TEAM_EVENTS = [...SLEEP_EVENTS, ...WAKE_EVENTS] as const;
export type TeamEvent = (typeof TEAM_EVENTS)[number];

/** Daily budgets in US dollars, inclusive. A budget of 0 means that no model is asked at all. */
export const BUDGET_BOUNDS = {
  agent: { min: 0, max: 10_000 },
  household: { min: 0, max: 100_000 },
} as const;

/** A recurring window. `type` may be left out, as most people write it. */
export interface RecurringBlackout {
  readonly type?: 'recurring';
  readonly label: string;
  /** `HH:MM` in the household's zone. */
  readonly start_time: string;
  /**
   * If it is not after the start, the window ends on the next day: 22:00–06:00 is a night,
   * 00:00–00:00 a whole day.
   */
  readonly end_time: string;
  /** Days on which the window begins. 0 is Sunday. Empty: every day. */
  readonly days: readonly number[];
}

/** A window that occurs once. */
export interface OneOffBlackout {
  readonly type: 'one_off';
  readonly label: string;
  /**
   * `YYYY-MM-DDTHH:MM`, with optional seconds. Local time of the household, or an exact moment with
   * `Z` or an offset.
   */
  readonly start_time: string;
  /** Later than the start. */
  readonly end_time: string;
}

export type Blackout = RecurringBlackout | OneOffBlackout;

/** The effective limits of one agent, with all defaults filled in. */
export interface WakeLimits {
  /** The household's switch. `enabled` is the agent's own. */
  readonly householdEnabled: boolean;
  readonly enabled: boolean;
  readonly timeZone: string;
  /**
   * A limit of the caller: `wake_agent` calls that one of its sessions may make. All other limits
   * are the target's or the household's.
   */
  readonly maxWakesPerSession: number;
  readonly cooldownSeconds: number;
  readonly maxWakesPerDay: number;
  readonly maxWakesPerPairPerDay: number;
  readonly blackouts: readonly Blackout[];
  readonly maxDailySessionMinutes: number;
  readonly maxConcurrentSessions: number;
  readonly floodMaxWakes: number;
  readonly floodWindowSeconds: number;
}

export const DEFAULT_LIMITS: Omit<WakeLimits, 'timeZone'> = {
  householdEnabled: true,
  enabled: true,
  maxWakesPerSession: NUMBERS.max_wakes_per_session.otherwise,
  cooldownSeconds: NUMBERS.cooldown_seconds.otherwise,
  maxWakesPerDay: NUMBERS.max_wakes_per_day.otherwise,
  maxWakesPerPairPerDay: NUMBERS.max_wakes_per_pair_per_day.otherwise,
  blackouts: [],
  maxDailySessionMinutes: NUMBERS.max_daily_session_minutes.otherwise,
  maxConcurrentSessions: NUMBERS.max_concurrent_pulse_sessions.otherwise,
  floodMaxWakes: NUMBERS.flood_max_wakes.otherwise,
  floodWindowSeconds: NUMBERS.flood_window_seconds.otherwise,
};

/** Presets that the settings page offers. */
export const PRESETS = {
  careful: { max_wakes_per_day: 4, cooldown_seconds: 900 },
  normal: { max_wakes_per_day: 12, cooldown_seconds: 300 },
  brisk: { max_wakes_per_day: 24, cooldown_seconds: 60 },
} as const;

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;

/**
 * `wall`: ms since the epoch at which a clock in UTC shows this time. `fixed`: the text names an
 * exact moment, independent of the zone.
 */
export interface DateTime {
  readonly wall: number;
  readonly fixed: boolean;
}

/**
 * Reads `YYYY-MM-DDTHH:MM` with optional seconds and offset. Null: it is not a date and time; the
 * 30th of February is not one either.
 */
export function readDateTime(text: string): DateTime | null {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const fixed = match[3] !== undefined;
  const date = text.slice(0, 10);
  // `Date.parse` reads an impossible date as a day of the next month.
  const day = Date.parse(`${date}T00:00Z`);
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date) return null;
  return { wall: Date.parse(fixed ? text : `${text}Z`), fixed };
}

/** `HH:MM`, 24 hours. */
export const isClockTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

/**
 * The last valid zone. A household has a single zone, and checks it on every read of its limits and
 * schedules.
 */
let lastZone = '';

/**
 * Whether this is the name of a time zone, such as `Europe/Berlin`. An uncached check takes a tenth
 * of a millisecond.
 */
export function isTimeZone(name: string): boolean {
  if (name !== '' && name === lastZone) return true;
  try {
    if (new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone === '') return false;
    lastZone = name;
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
