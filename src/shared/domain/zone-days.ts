/**
 * Calendar days in a time zone, correct across clock changes.
 *
 * A day there may have 23, 23½, 24 or 25 hours, or begin at one o'clock. Days are numbered by their
 * date, counted from 1970-01-01, which is day 0.
 */

// Times and durations as text for models, which have no clock.

/** Cached by zone: creating a formatter takes a hundred times as long as using it. */
const momentFormatters = new Map<string, Intl.DateTimeFormat>();

function momentFormatter(timeZone: string): Intl.DateTimeFormat {
  const formatter =
    momentFormatters.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  momentFormatters.set(timeZone, formatter);
  return formatter;
}

const MINUTE_MS = 60_000;
/** The latest text of each zone. All agents of a wake are told the same. */
const latestMoments = new Map<string, { readonly minute: number; readonly text: string }>();

/** `Monday 23 November 2026, 08:05`, in local time of the household. */
export function momentText(time: number, timeZone: string): string {
  const minute = Math.floor(time / MINUTE_MS);
  const formatter = latestMoments.get(timeZone);
  if (formatter?.minute === minute) return formatter.text;
  const text = writtenMoment(time, timeZone);
  latestMoments.set(timeZone, { minute, text });
  return text;
}

function writtenMoment(time: number, timeZone: string): string {
  const parts = momentFormatter(timeZone).formatToParts(time);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('weekday')} ${of('day')} ${of('month')} ${of('year')}, ${of('hour')}:${of('minute')}`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `3 days`, `9 hours`, `1 minute`: in the largest unit of which there are at least two. */
export function spanText(ms: number): string {
  const [name, size] = UNITS.find(([, size]) => ms >= 2 * size) ?? UNITS[2];
  const count = Math.round(ms / size);
  return count < 1 ? 'less than a minute' : `${count} ${name}${count === 1 ? '' : 's'}`;
}

export const DAY_MS = 86_400_000;
/** ms. No zone is further from UTC than this. */
const FURTHEST = 16 * 3_600_000;
/** Number of cached day starts, over all zones. Finding a start takes a search. */
const CACHED = 512;

/** ms since the epoch. `end` is exclusive. */
export interface Day {
  readonly start: number;
  readonly end: number;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  const formatter = formatters.get(zone);
  if (formatter) return formatter;
  const numeric = 'numeric';
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formatters.set(zone, made);
  return made;
}

/**
 * The wall clock's time in a zone, as the ms since the epoch at which a clock in UTC shows it.
 * Throws a `RangeError` for an unknown zone.
 */
export function wallTime(zone: string, time: number): number {
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const seconds = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return seconds + (((time % 1_000) + 1_000) % 1_000);
}

/** ms since midnight by the wall clock. Throws like `wallTime`. */
export const timeOfDay = (zone: string, time: number): number => ((wallTime(zone, time) % DAY_MS) + DAY_MS) % DAY_MS;

/**
 * The first ms in (`from`, `to`] from which on `holds` is true, given that it is false at `from`
 * and true at `to`. If it changes more than once, one of the changes.
 */
export function firstWhere(from: number, to: number, holds: (time: number) => boolean): number {
  let before = from;
  let after = to;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}

const starts = new Map<string, number>();

function startOf(zone: string, day: number): number {
  const key = `${day} ${zone}`;
  const known = starts.get(key);
  if (known !== undefined) return known;
  const midnight = day * DAY_MS;
  const start = firstWhere(midnight - FURTHEST, midnight + FURTHEST, (time) => wallTime(zone, time) >= midnight);
  if (starts.size >= CACHED) starts.clear();
  starts.set(key, start);
  return start;
}

/**
 * The calendar day that contains `time`. Days have no gaps and no overlaps, even if the clock goes
 * back over midnight. A date that the zone skipped has no day.
 */
export function dayOf(zone: string, time: number): Day {
  let day = Math.floor(wallTime(zone, time) / DAY_MS);
  while (time < startOf(zone, day)) day -= 1;
  while (time >= startOf(zone, day + 1)) day += 1;
  return { start: startOf(zone, day), end: startOf(zone, day + 1) };
}

/** The next time after `after` at which the zone's clocks show this hour, in ms since the epoch. */
export function nextHour(zone: string, hour: number, after: number): number {
  const sinceMidnight = hour * 3_600_000;
  const today = dayOf(zone, after);
  const on = ({ start }: Day) => {
    const at = start + sinceMidnight;
    // Corrects for a clock change since midnight.
    return at + sinceMidnight - timeOfDay(zone, at);
  };
  const at = on(today);
  return at > after ? at : on(dayOf(zone, today.end));
}

/** Whether clocks in these zones show different times, now or half a year later. */
export function clocksDiffer(one: string, other: string, now: number): boolean {
  return one !== other && [now, now + 182 * DAY_MS].some((at) => wallTime(one, at) !== wallTime(other, at));
}
