/**
 * When a hundred routines of one year are due, reckoned here by hand: nothing of the relay's
 * arithmetic is asked.
 */
import type { Timing } from '../../src/shared/domain/schedule/timing.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const BERLIN = 'Europe/Berlin';
export const NEW_YORK = 'America/New_York';

/** Hours from UTC, and when clocks go forward and back in that year. */
const ZONES: Readonly<Record<string, { readonly hours: number; readonly forward: number; readonly back: number }>> = {
  [BERLIN]: { hours: 1, forward: Date.UTC(2027, 2, 28, 1), back: Date.UTC(2027, 9, 31, 1) },
  [NEW_YORK]: { hours: -5, forward: Date.UTC(2027, 2, 14, 7), back: Date.UTC(2027, 10, 7, 6) },
};
export const YEAR_START = Date.UTC(2027, 0, 1);

/**
 * The first moment at which clocks there show this; where they leave it out, the one at which they
 * go forward.
 */
function momentOf(zone: string, wall: number): number {
  const found = ZONES[zone];
  if (!found) throw new Error(`No clocks are known of ${zone}.`);
  const { hours, forward, back } = found;
  const winter = wall - hours * HOUR;
  const summer = winter - HOUR;
  if (winter < forward) return winter;
  if (summer < forward) return forward;
  return summer < back ? summer : winter;
}

/** By day: `HH:MM` on these weekdays. */
function daily(zone: string, days: readonly number[], minute: number, from: number, to: number): number[] {
  const moments: number[] = [];
  for (let day = Math.floor(from / DAY) - 2; day * DAY <= to + 2 * DAY; day++) {
    // 1970-01-01 was a Thursday.
    if (days.length > 0 && !days.includes((day + 4) % 7)) continue;
    const at = momentOf(zone, day * DAY + minute * MINUTE);
    if (at > from && at <= to) moments.push(at);
  }
  return moments;
}

const minutesOf = (text: string) => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
};

/** The moments in (`from`, `to`]. Cron texts are of one time a day. */
export function momentsByHand(timing: Timing, offset: number | null, from: number, to: number): number[] {
  switch (timing.kind) {
    case 'every': {
      const moments: number[] = [];
      const shift = timing.offset ?? offset;
      if (shift === null) throw new Error('It has no offset.');
      for (let minute = Math.floor(from / MINUTE) + 1; minute <= Math.floor(to / MINUTE); minute++)
        if ((minute - shift) % timing.minutes === 0) moments.push(minute * MINUTE);
      return moments;
    }
    case 'weekly':
      return daily(timing.zone ?? BERLIN, timing.days, minutesOf(timing.time), from, to);
    case 'cron': {
      const [minute = '', hour = ''] = timing.cron.split(' ');
      return daily(timing.zone ?? BERLIN, [], Number(hour) * 60 + Number(minute), from, to);
    }
    case 'once':
      return timing.at > from && timing.at <= to ? [timing.at] : [];
    default:
      return timing satisfies never;
  }
}

/**
 * Times of a hundred routines: of each day, of some days, by cron text in two zones, at intervals
 * with and without an offset; some in the hours that clocks leave out or show twice.
 */
export function timingsOf(random: () => number, count: number): ScheduleOf<'routine'>['timing'][] {
  const odd = ['02:30', '02:00', '03:00', '01:30', '00:00'];
  const two = (value: number) => String(value).padStart(2, '0');
  const clockTime = (i: number) => odd[i] ?? `${two(Math.floor(random() * 24))}:${two(Math.floor(random() * 12) * 5)}`;
  return Array.from({ length: count }, (_none, i): ScheduleOf<'routine'>['timing'] => {
    const sort = i % 10;
    if (sort < 5) {
      const days = Array.from({ length: 1 + Math.floor(random() * 2) }, () => Math.floor(random() * 7));
      const time = clockTime(Math.floor(i / 10));
      return { kind: 'weekly', days: i < 2 ? [] : days, time: i < 2 ? '02:30' : time, zone: null };
    }
    if (sort < 8) {
      const minutes = i === 5 ? 150 : i === 6 ? 90 : Math.floor(random() * 1_440);
      const cron = `${minutes % 60} ${Math.floor(minutes / 60)} * * *`;
      return { kind: 'cron', cron, zone: i % 3 === 0 ? NEW_YORK : null };
    }
    const minutes = [240, 720, 1_440, 10_080, 2_880][Math.floor(i / 10) % 5] ?? 720;
    return { kind: 'every', minutes, offset: sort === 8 ? null : Math.floor(random() * minutes) };
  });
}
