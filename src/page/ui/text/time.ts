/** Formats times and durations, in the reader's own zone. */
import { spoken, t } from '../../language/t.ts';
import { asBeginning, plural } from './sizes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new Intl.DateTimeFormat(spoken.locale, { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat(spoken.locale, { weekday: 'long' });
const date = new Intl.DateTimeFormat(spoken.locale, { day: 'numeric', month: 'long', year: 'numeric' });
const dateThisYear = new Intl.DateTimeFormat(spoken.locale, { weekday: 'long', day: 'numeric', month: 'long' });

/** `08:52` */
export const clockTime = (time: number): string => clock.format(time);

/** Whole days between the two midnights. */
function daysBefore(time: number, now: number): number {
  return Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(time).setHours(0, 0, 0, 0)) / DAY);
}
const isToday = (time: number, now: number) => daysBefore(time, now) === 0;

function dayText(time: number, now: number, today: string, yesterday: string): string {
  const days = daysBefore(time, now);
  if (days === 0) return today;
  if (days === 1) return yesterday;
  if (days > 1 && days < 7) return weekday.format(time);
  return new Date(time).getFullYear() === new Date(now).getFullYear() ? dateThisYear.format(time) : date.format(time);
}

/** `Today`, `Yesterday`, `Thursday`, `Thursday 6 November`, `6 November 2024`. */
export const dayName = (time: number, now: number): string => dayText(time, now, t`Today`, asBeginning(t`yesterday`));

/** `08:52` today, `Yesterday 08:52` before. */
export const dayAndClock = (time: number, now: number): string =>
  isToday(time, now) ? clockTime(time) : `${dayName(time, now)} ${clockTime(time)}`;

/** `08:52` today, `Yesterday` before: where there is little room. */
export const dayOrClock = (time: number, now: number): string =>
  isToday(time, now) ? clockTime(time) : dayName(time, now);

/** As `dayName`, within a sentence: "since yesterday 23:41". */
export const dayWithin = (time: number, now: number): string => dayText(time, now, t`today`, t`yesterday`);

const dayAndMonth = new Intl.DateTimeFormat(spoken.locale, { day: 'numeric', month: 'short' });

/** `08:52`, `yesterday`, `Thursday`, `6 Nov`: where there is very little room. */
export function since(time: number, now: number): string {
  const days = daysBefore(time, now);
  if (days === 0) return clockTime(time);
  if (days === 1) return t`yesterday`;
  return days > 1 && days < 7 ? weekday.format(time) : dayAndMonth.format(time);
}

/** Is it recent enough to show how long ago it was? */
export const isYoung = (time: number, now: number): boolean => now - time < HOUR;

/**
 * `just now`, `12 min ago`, and after an hour the time of day: `08:52`. If a clock is behind,
 * future times are shown as `just now`.
 */
export function ago(time: number, now: number): string {
  if (!isYoung(time, now)) return clockTime(time);
  return now - time < MINUTE ? t`just now` : t`${Math.floor((now - time) / MINUTE)} min ago`;
}

const wholeDate = new Intl.DateTimeFormat(spoken.locale, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** `Saturday, 21 November 2026` */
export const fullDay = (time: number): string => wholeDate.format(time);

/** `21 November 2026, 08:52` */
export const fullTime = (time: number): string => `${date.format(time)}, ${clockTime(time)}`;

/** `a moment`, `12 minutes`, `9 hours`, `3 days` */
export function duration(ms: number): string {
  if (ms < MINUTE) return t`a moment`;
  if (ms < HOUR) return plural(Math.round(ms / MINUTE), 'minute');
  if (ms < 2 * DAY) return plural(Math.round(ms / HOUR), 'hour');
  return plural(Math.round(ms / DAY), 'day');
}

/** `0 min`, `1 min`, `9 h`, `3 d`: where there is little room. A clock that is behind shows 0. */
export function shortDuration(ms: number): string {
  if (ms < HOUR) return t`${Math.max(0, Math.floor(ms / MINUTE))} min`;
  if (ms < 2 * DAY) return t`${Math.floor(ms / HOUR)} h`;
  return t`${Math.floor(ms / DAY)} d`;
}

const two = (value: number) => String(value).padStart(2, '0');
/** As a field for a day and a time has it: `2026-11-23T07:30`. */
export function localText(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
