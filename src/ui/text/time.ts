/** Times and durations as people say them, in the reader's own zone. */

import { t } from '../../language/t.ts';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
const dateThisYear = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

/** `08:52` */
export const clockTime = (time: number): string => clock.format(time);

/** `Today`, `Yesterday`, `Thursday`, `Thursday 6 November`, `6 November 2024`. */
export function dayName(time: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const days = Math.round((midnight - new Date(time).setHours(0, 0, 0, 0)) / DAY);
  if (days === 0) return t`Today`;
  if (days === 1) return t`Yesterday`;
  if (days > 1 && days < 7) return weekday.format(time);
  return new Date(time).getFullYear() === new Date(now).getFullYear() ? dateThisYear.format(time) : date.format(time);
}

/** `08:52` today, `Yesterday 08:52` before. */
export const dayAndClock = (time: number, now: number): string =>
  `${dayName(time, now) === 'Today' ? '' : `${dayName(time, now)} `}${clockTime(time)}`;

/** `08:52` today, `Yesterday` before: where there is little room. */
export const dayOrClock = (time: number, now: number): string =>
  dayName(time, now) === 'Today' ? clockTime(time) : dayName(time, now);

/** As `dayName`, within a sentence: "since yesterday 23:41". */
export const dayWithin = (time: number, now: number): string =>
  dayName(time, now).replace(/^(Today|Yesterday)$/, (word) => word.toLowerCase());

const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `08:52`, `yesterday`, `Thursday`, `6 Nov`: where there is very little room. */
export function since(time: number, now: number): string {
  const day = dayName(time, now);
  if (day === 'Today') return clockTime(time);
  return day === 'Yesterday' ? 'yesterday' : /^\w+$/.test(day) ? day : dayAndMonth.format(time);
}

/** Is it so short ago that one says how long? */
export const isYoung = (time: number, now: number): boolean => now - time < HOUR;

/** `just now`, `12 min ago`, and from an hour on the time of day: `08:52`. A clock that is behind makes nothing come from the future. */
export function ago(time: number, now: number): string {
  if (!isYoung(time, now)) return clockTime(time);
  return now - time < MINUTE ? t`just now` : t`${Math.floor((now - time) / MINUTE)} min ago`;
}

const wholeDate = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

/** `Saturday, 21 November 2026` */
export const fullDay = (time: number): string => wholeDate.format(time);

/** `21 November 2026, 08:52` */
export const fullTime = (time: number): string => `${date.format(time)}, ${clockTime(time)}`;

const several = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** `a moment`, `12 minutes`, `9 hours`, `3 days` */
export function duration(ms: number): string {
  if (ms < MINUTE) return t`a moment`;
  if (ms < HOUR) return several(Math.round(ms / MINUTE), 'minute');
  if (ms < 2 * DAY) return several(Math.round(ms / HOUR), 'hour');
  return several(Math.round(ms / DAY), 'day');
}

/** `just begun`, `1 min`, `9 h`, `3 d`: where there is little room. */
export function shortDuration(ms: number): string {
  if (ms < MINUTE) return t`just begun`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}
