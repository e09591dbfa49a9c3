/**
 * When a schedule is due. Moments follow from the schedule alone and not from the last run. So
 * nothing drifts, and a long run drops no moment.
 */
import { readDateTime } from '../guardrails.ts';
import { DAY_MS, firstWhere, wallTime } from '../zone-days.ts';

// Occurrences: the record of every moment at which something was due. Each ends in exactly one end
// state.

/**
 * Open states. `due`: not started; `claimed`: a relay has claimed it; `running`: its run is under
 * way.
 */
export const OPEN_STATES = ['due', 'claimed', 'running'] as const;
/** Final states. */
export const END_STATES = [
  'done',
  'failed',
  'timed-out',
  'crashed',
  'stopped',
  'skipped',
  'missed',
  'cancelled',
] as const;
type OpenState = (typeof OPEN_STATES)[number];
type EndState = (typeof END_STATES)[number];
export type OccurrenceState = OpenState | EndState;

/** End states of a run that did not finish by itself. */
const BROKEN_OFF: readonly OccurrenceState[] = ['failed', 'timed-out', 'crashed', 'stopped'];
/**
 * Whether the person can let an agent continue this occurrence. It must have a run that did not
 * finish and that no later run continued.
 */
export const canGoOn = (one: {
  readonly state: OccurrenceState;
  readonly runId: string | null;
  readonly continuedBy: string | null;
}): boolean => one.runId !== null && one.continuedBy === null && BROKEN_OFF.includes(one.state);

/** Why a due occurrence did not run. */
export const SKIP_REASONS = [
  'agent-busy',
  'blackout',
  'concurrency',
  'minutes',
  'budget',
  'model-refused',
  'nothing-waits',
  'overlap',
  'switched-off',
  'planned-stop',
  'no-copy',
  'gate',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** How an occurrence ended. Only skipped ones have a `reason`. */
export type OccurrenceEnd =
  | { readonly state: Exclude<EndState, 'skipped'>; readonly reason: null }
  | { readonly state: 'skipped'; readonly reason: SkipReason };

export const CATCH_UP = ['skip', 'once', 'each'] as const;
type CatchUp = (typeof CATCH_UP)[number];

export interface CatchUpLimits {
  /** ms. An occurrence that was due longer ago is missed, whatever the schedule's setting. */
  readonly windowMs: number;
  /** Maximum number of occurrences that `each` catches up on. */
  readonly most: number;
  /** ms. An occurrence that is at most this late was not missed; the relay was only busy. */
  readonly onTimeMs: number;
  /** ms between two that are caught up on, to avoid a burst. */
  readonly staggerMs: number;
}

export const CATCH_UP_LIMITS: CatchUpLimits = {
  windowMs: 15 * 60_000,
  most: 10,
  onTimeMs: 60_000,
  staggerMs: 5_000,
};

/**
 * A period in which the relay was down because the person had stopped it, in ms since the epoch.
 * `to` is exclusive.
 */
export interface PlannedStop {
  readonly from: number;
  readonly to: number;
}

/** What to do with a due moment. `late`: it is caught up on. */
type Verdict =
  | { readonly slot: number; readonly kind: 'run'; readonly late: boolean }
  | { readonly slot: number; readonly kind: 'end'; readonly end: OccurrenceEnd };

/**
 * Decides what becomes of due moments, in the same order.
 *
 * Moments that are on time run. Of late ones, because the relay was down, `skip` catches up on
 * none, `once` on the newest, and `each` on the newest few. Moments outside the window or inside a
 * planned stop are never caught up on.
 */
export function judgeSlots(
  slots: readonly number[],
  now: number,
  catchUp: CatchUp,
  stops: readonly PlannedStop[],
  limits: CatchUpLimits = CATCH_UP_LIMITS,
): readonly Verdict[] {
  const stopped = (slot: number) => stops.some(({ from, to }) => slot >= from && slot < to);
  const onTime = (slot: number) => now - slot <= limits.onTimeMs;
  const late = slots.filter((slot) => !onTime(slot) && !stopped(slot) && now - slot <= limits.windowMs);
  // With `once`, a moment that is on time now counts as the catch-up.
  const wanted =
    catchUp === 'skip' || (catchUp === 'once' && slots.some(onTime)) ? 0 : catchUp === 'once' ? 1 : limits.most;
  const madeUp = new Set(wanted === 0 ? [] : late.slice(-wanted));
  return slots.map((slot): Verdict => {
    // A moment that is in a stop and still on time was due while the relay restarted.
    if (stopped(slot)) return { slot, kind: 'end', end: { state: 'skipped', reason: 'planned-stop' } };
    if (onTime(slot)) return { slot, kind: 'run', late: false };
    if (madeUp.has(slot)) return { slot, kind: 'run', late: true };
    return { slot, kind: 'end', end: { state: 'missed', reason: null } };
  });
}

/**
 * Length of the streak of newest ends of a sort. `nothing-waits` is normal for an idle routine: it
 * neither counts nor breaks the streak.
 */
export function rowOf(newestFirst: readonly OccurrenceEnd[], sort: 'skipped' | 'failed' | 'either'): number {
  let count = 0;
  for (const { state, reason } of newestFirst) {
    if (reason === 'nothing-waits') continue;
    const skipped = state === 'skipped' || state === 'missed';
    const failed = state === 'failed' || state === 'timed-out' || state === 'crashed';
    if (!(sort === 'either' ? skipped || failed : sort === 'skipped' ? skipped : failed)) return count;
    count += 1;
  }
  return count;
}

/**
 * Cron expressions in a time zone. A library does the arithmetic; see
 * `src/shared/protocol/timing-arguments.ts`.
 */
export interface CronClock {
  /**
   * The first moment after `after`, in ms since the epoch. Null: there is none. Throws for an
   * invalid expression or zone.
   */
  next(cron: string, zone: string, after: number): number | null;
}

export type Timing =
  /**
   * Every `minutes`, counted from the epoch, `offset` minutes later. `offset` null: the household
   * assigns one, apart from the others.
   */
  | { readonly kind: 'every'; readonly minutes: number; readonly offset: number | null }
  /** `zone` null: the household's. */
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string | null }
  /** `days`: 0 is Sunday; empty: every day. `time`: `HH:MM`. */
  | { readonly kind: 'weekly'; readonly days: readonly number[]; readonly time: string; readonly zone: string | null }
  /** `at`: ms since the epoch. */
  | { readonly kind: 'once'; readonly at: number };

/** Values of the household that a timing depends on. */
export interface TimingContext {
  readonly cron: CronClock;
  /** The household's time zone. */
  readonly zone: string;
  /** Minutes. For an interval without its own offset. */
  readonly offset: number;
}

export const MINUTE_MS = 60_000;
/** Minutes. */
export const INTERVAL_BOUNDS = { min: 1, max: 10_080 } as const;
/** Minutes. An offset is always shorter than its interval. */
export const OFFSET_BOUNDS = { min: 0, max: 10_079 } as const;

/**
 * The cron expression of days and a time: `30 7 * * 1,2`. On a day on which the clock skips that
 * time, it is the first moment after. On a day that has it twice, it is the first.
 */
function cronOfWeekly({ days, time }: Pick<Extract<Timing, { kind: 'weekly' }>, 'days' | 'time'>): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return `${minute} ${hour} * * ${days.length === 0 ? '*' : [...new Set(days)].sort((a, b) => a - b).join(',')}`;
}

/** The first due moment after `after`, in ms since the epoch. Null: there is none. */
export function slotAfter(timing: Timing, after: number, { cron, zone, offset }: TimingContext): number | null {
  switch (timing.kind) {
    case 'every': {
      const step = timing.minutes * MINUTE_MS;
      const shift = ((timing.offset ?? offset) * MINUTE_MS) % step;
      return (Math.floor((after - shift) / step) + 1) * step + shift;
    }
    case 'cron':
      return cron.next(timing.cron, timing.zone ?? zone, after);
    case 'weekly':
      return cron.next(cronOfWeekly(timing), timing.zone ?? zone, after);
    case 'once':
      return timing.at > after ? timing.at : null;
    default:
      return timing satisfies never;
  }
}

/**
 * The newest `most` moments in (`from`, `to`], oldest first, and whether there are older ones.
 * Searches backwards from `to`: going through a year of a schedule that is due every minute would
 * take minutes.
 */
export function newestSlots(
  timing: Timing,
  from: number,
  to: number,
  context: TimingContext,
  most: number,
): { readonly slots: readonly number[]; readonly older: boolean } {
  // Nothing is due more often than once a minute.
  const least = most * MINUTE_MS;
  const slots: number[] = [];
  let end = to;
  let span = least;
  while (slots.length < most && end > from) {
    let start = Math.max(from, end - span);
    let part = slotsBetween(timing, start, end, context, 2 * most + 1);
    // Too many to go through: keep the newer half of this span.
    while (part.length > 2 * most) {
      start = end - Math.floor((end - start) / 2);
      part = slotsBetween(timing, start, end, context, 2 * most + 1);
    }
    slots.unshift(...part);
    span = Math.max(least, 2 * (end - start));
    end = start;
  }
  const first = end > from ? slotAfter(timing, from, context) : null;
  return { slots: slots.slice(-most), older: slots.length > most || (first !== null && first <= end) };
}

/**
 * How many moments of a calendar schedule, and how many ms of it, are searched for two that are
 * close together.
 */
const EXAMINED = { moments: 16, ms: 8 * 24 * 60 * MINUTE_MS };

/** Whether two consecutive moments, around `at` or in the week after, are less than `ms` apart. */
export function comesWithin(timing: Timing, ms: number, at: number, context: TimingContext): boolean {
  if (timing.kind === 'once') return false;
  if (timing.kind === 'every') return timing.minutes * MINUTE_MS < ms;
  const slots = slotsBetween(timing, at - ms, at + EXAMINED.ms, context, EXAMINED.moments);
  return slots.some((slot, n) => n > 0 && slot - (slots[n - 1] ?? 0) < ms);
}

/** Moments in (`from`, `to`], oldest first, at most `most`. */
export function slotsBetween(
  timing: Timing,
  from: number,
  to: number,
  context: TimingContext,
  most = Infinity,
): readonly number[] {
  const slots: number[] = [];
  for (let at = slotAfter(timing, from, context); at !== null && at <= to && slots.length < most;) {
    slots.push(at);
    at = slotAfter(timing, at, context);
  }
  return slots;
}

// Offsets that spread agents with the same interval, so that they do not all run at once.

/** Minutes between two of them, if the interval has room for it. */
export const SPREAD_MINUTES = 3;

interface Interval {
  /** Unique among the intervals that are spread. */
  readonly id: string;
  readonly minutes: number;
  /** The person's own offset, which is never changed. Null: none. */
  readonly offset: number | null;
}

const positive = (value: number, modulus: number) => ((value % modulus) + modulus) % modulus;

/**
 * The offset of each interval, in minutes.
 *
 * The person's offsets are unchanged. The others get, in the order of their ids, the first free
 * place of their interval. If there are more intervals than places, each gets the place furthest
 * from the others.
 */
export function spreadOffsets(intervals: readonly Interval[], spread = SPREAD_MINUTES): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  const byMinutes = new Map<number, Interval[]>();
  for (const each of intervals) byMinutes.set(each.minutes, [...(byMinutes.get(each.minutes) ?? []), each]);
  for (const [minutes, group] of byMinutes) {
    const taken = group.flatMap(({ id, offset }) => {
      if (offset === null) return [];
      const own = positive(offset, minutes);
      offsets.set(id, own);
      return [own];
    });
    const free = group.filter(({ offset }) => offset === null).sort((a, b) => (a.id < b.id ? -1 : 1));
    // A smaller distance for all if the interval has no room for the full one.
    const step = Math.max(Math.min(spread, Math.floor(minutes / Math.max(1, group.length))), 1);
    for (const { id } of free) {
      const own = placeFor(taken, minutes, step);
      taken.push(own);
      offsets.set(id, own);
    }
  }
  return offsets;
}

function placeFor(taken: readonly number[], minutes: number, step: number): number {
  const distance = (a: number, b: number) => Math.min(positive(a - b, minutes), positive(b - a, minutes));
  const room = (at: number) => Math.min(minutes, ...taken.map((other) => distance(at, other)));
  let best = 0;
  for (let at = 0; at < Math.min(minutes, OFFSET_BOUNDS.max + 1); at += step) {
    if (room(at) >= step) return at;
    if (room(at) > room(best)) best = at;
  }
  return best;
}

// Moments as text in local time: `2026-12-24T09:00`, `tomorrow 09:00`, `friday 09:00`.

/** Indexed like `Date.getUTCDay`. */
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
/** Any day from Monday to Friday. */
const WORKDAYS = 'weekday';
const AHEAD: Readonly<Record<string, number>> = { today: 0, tomorrow: 1, 'day after tomorrow': 2 };
const DAY_TIME = new RegExp(
  String.raw`^(?:(?:the )?(?<ahead>${Object.keys(AHEAD).join('|')})|(?:on )?(?<next>next )?(?<weekday>${WORKDAYS}|${WEEKDAYS.join('|')})),? (?:at )?(?<hour>\d{1,2}):(?<minute>\d{2})$`,
);

/** The first moment at which the wall clock shows this time or a later one. */
const whenShown = (wall: number, zone: string): number =>
  firstWhere(wall - DAY_MS, wall + DAY_MS, (time) => wallTime(zone, time) >= wall);

/**
 * Candidate days, counted from today, in order. The caller takes the first on which the time is
 * still to come.
 */
function daysOf(ahead: string | undefined, weekday: string, isNext: boolean, today: number): readonly number[] {
  if (ahead !== undefined) return [AHEAD[ahead] ?? 0];
  // Day 7 is the same weekday in a week: it is used if the time has passed today.
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((days) => {
    const on = new Date(today + days * DAY_MS).getUTCDay();
    return (!isNext || days > 0) && (weekday === WORKDAYS ? on >= 1 && on <= 5 : WEEKDAYS[on] === weekday);
  });
}

/**
 * ms since the epoch. Null: the text is not a moment.
 *
 * A time of `today` may be in the past. A weekday is the next one at which the time is still to
 * come, which may be today. With `next` it is never today. `weekday` is any day from Monday to
 * Friday.
 */
export function parseMoment(text: string, zone: string, now: number): number | null {
  const read = readDateTime(text);
  if (read) return read.fixed ? read.wall : whenShown(read.wall, zone);
  const said = DAY_TIME.exec(text.trim().toLowerCase().replace(/\s+/g, ' '))?.groups;
  if (!said) return null;
  const { ahead, next, weekday = '', hour, minute } = said;
  if (Number(hour) > 23 || Number(minute) > 59) return null;
  const today = Math.floor(wallTime(zone, now) / DAY_MS) * DAY_MS;
  const sinceMidnight = (Number(hour) * 60 + Number(minute)) * MINUTE_MS;
  const moments = daysOf(ahead, weekday, next !== undefined, today).map((days) =>
    whenShown(today + days * DAY_MS + sinceMidnight, zone),
  );
  return moments.find((moment) => moment > now) ?? moments.at(-1) ?? null;
}
