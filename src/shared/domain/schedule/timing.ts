/**
 * When something is due. The moments follow from the schedule itself and from nothing else: not
 * from when it ran last, so that nothing drifts, and an overlong run swallows no moment.
 */
import { readDateTime } from '../guardrails.ts';
import { DAY_MS, firstWhere, wallTime } from '../zone-days.ts';

// Occurrences: one account of every moment at which something was due. Each comes to exactly one
// end.

/**
 * On the way. `due`: nobody has begun with it; `claimed`: a relay has; `running`: its run goes on.
 */
export const OPEN_STATES = ['due', 'claimed', 'running'] as const;
/** For good. */
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

/** A run that ended so has not come to its own end. */
const BROKEN_OFF: readonly OccurrenceState[] = ['failed', 'timed-out', 'crashed', 'stopped'];
/**
 * Whether the person can let an agent go on with it: it was at work, did not come to its end, and
 * no later run went on with it.
 */
export const canGoOn = (one: {
  readonly state: OccurrenceState;
  readonly runId: string | null;
  readonly continuedBy: string | null;
}): boolean => one.runId !== null && one.continuedBy === null && BROKEN_OFF.includes(one.state);

/** Why nothing ran though it was due. */
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

/** What became of a moment. `reason` is there where it was skipped. */
export type OccurrenceEnd =
  | { readonly state: Exclude<EndState, 'skipped'>; readonly reason: null }
  | { readonly state: 'skipped'; readonly reason: SkipReason };

export const CATCH_UP = ['skip', 'once', 'each'] as const;
type CatchUp = (typeof CATCH_UP)[number];

export interface CatchUpLimits {
  /** ms: what was due longer ago is missed, whatever the schedule wants. */
  readonly windowMs: number;
  /** Most that `each` makes up for. */
  readonly most: number;
  /** ms: a moment that is no later than this was not missed; the relay was only busy. */
  readonly onTimeMs: number;
  /** ms between two that are made up for: never a burst. */
  readonly staggerMs: number;
}

export const CATCH_UP_LIMITS: CatchUpLimits = {
  windowMs: 15 * 60_000,
  most: 10,
  onTimeMs: 60_000,
  staggerMs: 5_000,
};

/**
 * A time in which the relay did not run because the person had ended it; ms since the epoch,
 * without the end.
 */
export interface PlannedStop {
  readonly from: number;
  readonly to: number;
}

/** What is to be done with a moment that has come. `late`: it is made up for. */
type Verdict =
  | { readonly slot: number; readonly kind: 'run'; readonly late: boolean }
  | { readonly slot: number; readonly kind: 'end'; readonly end: OccurrenceEnd };

/**
 * What becomes of the moments that have come, in the same order. Those that are on time run. Of
 * those that are late, the relay having been away, `skip` makes up for none, `once` for the newest,
 * `each` for the newest few: within the window, and none that lies in a stop that the person asked
 * for.
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
  // What is on time now is the next of them, and more than making up for one of before.
  const wanted =
    catchUp === 'skip' || (catchUp === 'once' && slots.some(onTime)) ? 0 : catchUp === 'once' ? 1 : limits.most;
  const madeUp = new Set(wanted === 0 ? [] : late.slice(-wanted));
  return slots.map((slot): Verdict => {
    // One that lies in a stop and is on time all the same came while the relay was started again.
    if (stopped(slot)) return { slot, kind: 'end', end: { state: 'skipped', reason: 'planned-stop' } };
    if (onTime(slot)) return { slot, kind: 'run', late: false };
    if (madeUp.has(slot)) return { slot, kind: 'run', late: true };
    return { slot, kind: 'end', end: { state: 'missed', reason: null } };
  });
}

/**
 * How often the newest ends in a row were of a sort, the newest first. `nothing-waits` is how an
 * idle routine lives: it neither counts nor breaks the row.
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
 * Cron texts in a time zone. The arithmetic is a library's; see
 * `src/shared/protocol/said-timing.ts`.
 */
export interface CronClock {
  /**
   * The first moment after `after`, ms since the epoch; null: there is none any more. Throws where
   * the text or the zone is none.
   */
  next(cron: string, zone: string, after: number): number | null;
}

export type Timing =
  /**
   * Each `minutes`, counted from the epoch, `offset` minutes later. `offset` null: given by the
   * household, apart from the others'.
   */
  | { readonly kind: 'every'; readonly minutes: number; readonly offset: number | null }
  /** `zone` null: the household's. */
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string | null }
  /** `days`: 0 is Sunday; empty: every day. `time`: `HH:MM`. */
  | { readonly kind: 'weekly'; readonly days: readonly number[]; readonly time: string; readonly zone: string | null }
  /** Once. */
  | { readonly kind: 'once'; readonly at: number };

/** What a timing leaves to the household. */
export interface TimingContext {
  readonly cron: CronClock;
  /** Of the household. */
  readonly zone: string;
  /** Minutes, for an interval without an offset of its own. */
  readonly offset: number;
}

export const MINUTE_MS = 60_000;
/** Minutes. */
export const INTERVAL_BOUNDS = { min: 1, max: 10_080 } as const;
/** Minutes; of an interval, and never as long as it. */
export const OFFSET_BOUNDS = { min: 0, max: 10_079 } as const;

/**
 * `30 7 * * 1,2`: the cron text that says the same as days and a time. On the day on which the
 * clock leaves that time out, it is the first moment after; where it shows it twice, the first.
 */
function cronOfWeekly({ days, time }: Pick<Extract<Timing, { kind: 'weekly' }>, 'days' | 'time'>): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return `${minute} ${hour} * * ${days.length === 0 ? '*' : [...new Set(days)].sort((a, b) => a - b).join(',')}`;
}

/**
 * The first moment after `after` at which it is due, ms since the epoch; null: there is none any
 * more.
 */
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
 * The newest `most` moments in (`from`, `to`], the oldest first, and whether there are any before
 * them. Looks back no further than it has to: a text that is due every minute, after a year, would
 * take minutes to be gone through.
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
    // Too many to go through: of this piece the newer half.
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

/** Moments of a calendar, and ms of it, that are looked at for two that lie close together. */
const LOOKED = { moments: 16, ms: 8 * 24 * 60 * MINUTE_MS };

/**
 * Whether it comes again before `ms` are over: some two of its moments about `at` and in the week
 * after lie less than that apart.
 */
export function comesWithin(timing: Timing, ms: number, at: number, context: TimingContext): boolean {
  if (timing.kind === 'once') return false;
  if (timing.kind === 'every') return timing.minutes * MINUTE_MS < ms;
  const slots = slotsBetween(timing, at - ms, at + LOOKED.ms, context, LOOKED.moments);
  return slots.some((slot, n) => n > 0 && slot - (slots[n - 1] ?? 0) < ms);
}

/** The moments in (`from`, `to`], the oldest first, at most `most`. */
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

// Agents that do something at the same interval do it one after another, and never all at once.

/** Minutes between two of them, where the interval has room for it. */
export const SPREAD_MINUTES = 3;

interface Interval {
  /** Names it among those that are spread. */
  readonly id: string;
  readonly minutes: number;
  /** What the person has set, and is never changed; null: nothing. */
  readonly offset: number | null;
}

const positive = (value: number, modulus: number) => ((value % modulus) + modulus) % modulus;

/**
 * The offset of each, in minutes. What the person has set stands. The others get, in the order of
 * their names, the first place of their interval that is free; where there are more of them than
 * places, those that are free the longest.
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
    // All of them a little closer where the interval has no room for the whole distance.
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

// A moment as it is said to somebody who has a clock on the wall: `2026-12-24T09:00`, `tomorrow
// 09:00`, `friday 09:00`.

/** By their number, as `Date` counts them. */
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
/** Any from Monday to Friday. */
const WORKDAYS = 'weekday';
const AHEAD: Readonly<Record<string, number>> = { today: 0, tomorrow: 1, 'day after tomorrow': 2 };
const DAY_TIME = new RegExp(
  String.raw`^(?:(?:the )?(?<ahead>${Object.keys(AHEAD).join('|')})|(?:on )?(?<next>next )?(?<weekday>${WORKDAYS}|${WEEKDAYS.join('|')})),? (?:at )?(?<hour>\d{1,2}):(?<minute>\d{2})$`,
);

/** The moment at which the clock on the wall shows it first. */
const whenShown = (wall: number, zone: string): number =>
  firstWhere(wall - DAY_MS, wall + DAY_MS, (time) => wallTime(zone, time) >= wall);

/** Which days, counted from today, are meant; the first of them at which that time is to come. */
function daysOf(ahead: string | undefined, weekday: string, isNext: boolean, today: number): readonly number[] {
  if (ahead !== undefined) return [AHEAD[ahead] ?? 0];
  // A week on, the day is the same: where its time is over today, that one is meant.
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((days) => {
    const on = new Date(today + days * DAY_MS).getUTCDay();
    return (!isNext || days > 0) && (weekday === WORKDAYS ? on >= 1 && on <= 5 : WEEKDAYS[on] === weekday);
  });
}

/**
 * ms since the epoch; null where the text says no moment. A time of `today` may be over. A weekday
 * is the next at which that time is to come, today where it still is; with `next` before it, never
 * today; `weekday` is any from Monday to Friday.
 */
export function saidMoment(text: string, zone: string, now: number): number | null {
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
