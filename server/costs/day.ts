/** Calendar days of the household's time zone. */

export interface ZoneDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** ms since the epoch; `end` is the next day's `start`. */
  readonly start: number;
  readonly end: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const formats = new Map<string, Intl.DateTimeFormat>();

function nameOf(time: number, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(zone, format);
  }
  return format.format(time);
}

/** The first ms after `from` at which another day than `day` is, found to the ms. */
function edge(from: number, to: number, day: string, zone: string): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (nameOf(middle, zone) === day) low = middle;
    else high = middle;
  }
  return high;
}

/** No day is longer than 27 hours. */
const LONGEST = 27 * HOUR;

export function dayAt(time: number, zone: string): ZoneDay {
  const day = nameOf(time, zone);
  const end = edge(time, time + LONGEST, day, zone);
  let [low, high] = [time - LONGEST, time];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (nameOf(middle, zone) === day) high = middle;
    else low = middle;
  }
  return { day, start: high, end };
}

/** `count` days, newest first, the first of them the one of `time`. */
export function daysBack(time: number, zone: string, count: number): readonly ZoneDay[] {
  const days = [dayAt(time, zone)];
  for (let last = days[0]; last && days.length < count; last = days.at(-1)) days.push(dayAt(last.start - 1, zone));
  return days;
}
