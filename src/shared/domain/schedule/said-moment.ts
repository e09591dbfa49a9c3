/**
 * A moment as it is said to somebody who has a clock on the wall: `2026-12-24T09:00`, `tomorrow
 * 09:00`, `friday 09:00`.
 */
import { readDateTime } from '../guardrails.ts';
import { DAY_MS, firstWhere, wallTime } from '../zone-days.ts';
import { MINUTE_MS } from './timing.ts';

/** By their number, as `Date` counts them. */
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];
/** Any from Monday to Friday. */
export const WORKDAYS = 'weekday';
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
