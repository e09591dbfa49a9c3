/**
 * Blackouts: hours in which an agent is not woken.
 *
 * A blackout follows the local wall clock. When clocks go forward, a window may end early. When
 * clocks go back, an hour that is shown twice is dark twice.
 */
import { DAY_MS, firstWhere, timeOfDay, wallTime } from './zone-days.ts';
import { type Blackout, type OneOffBlackout, readDateTime, type RecurringBlackout } from './guardrails.ts';

// Quiet hours: hours of the day in which a person is not disturbed.

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/**
 * Minutes since midnight. The hours span midnight if they end before they begin. If both are equal,
 * there are none.
 */
interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/**
 * ms from `minute` of the day until the quiet hours end, ignoring clock changes. 0: `minute` is
 * outside them.
 */
function quietFor(quiet: QuietHours | null, minute: number): number {
  if (quiet === null || quiet.from === quiet.to) return 0;
  const since = (minute - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  const length = (quiet.to - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  return since < length ? (length - since) * MINUTE_MS : 0;
}

/**
 * When the quiet hours end, in ms since the epoch, or `at` itself if it is outside them.
 *
 * Follows the clocks of `zone`, including changes in between. Throws a `RangeError` for an unknown
 * zone.
 */
export function quietUntil(quiet: QuietHours | null, zone: string, at: number): number {
  const left = (time: number) => quietFor(quiet, Math.floor(timeOfDay(zone, time) / MINUTE_MS));
  let [before, end] = [at, at];
  // If clocks go back, the hours are not over at `end` yet. If clocks go forward, they were over
  // before.
  for (let more = left(end); more > 0; more = left(end)) [before, end] = [end, end + more];
  return before === end ? at : firstWhere(before, end, (time) => left(time) === 0);
}

const MINUTE = 60_000;
/** Windows repeat weekly, so after this long every recurring window has occurred. */
const WHOLE_ROUND = 8 * DAY_MS;

function minutesOf(clockTime: string): number {
  const [hours = 0, minutes = 0] = clockTime.split(':').map(Number);
  return hours * 60 + minutes;
}

/** A moment of a one-off window as wall time, where the wall clock is `shift` ahead of UTC. */
function wallOf(text: string, shift: number): number {
  const read = readDateTime(text);
  if (read === null) throw new RangeError(`not a date and a time: ${text}`);
  return read.fixed ? read.wall + shift : read.wall;
}

const endOfOneOff = ({ start_time, end_time }: OneOffBlackout, wall: number, shift: number): number | null => {
  const end = wallOf(end_time, shift);
  return wall >= wallOf(start_time, shift) && wall < end ? end : null;
};

/** When this window ends, as wall time. Null: it is not dark at `time`. */
function endOf(blackout: Blackout, wall: number, time: number): number | null {
  return blackout.type === 'one_off' ? endOfOneOff(blackout, wall, wall - time) : endOfRecurring(blackout, wall);
}

/** An end that is not after the start lies on the next day. */
function endOfRecurring({ start_time, end_time, days }: RecurringBlackout, wall: number): number | null {
  const date = Math.floor(wall / DAY_MS);
  const minute = (wall - date * DAY_MS) / MINUTE;
  const start = minutesOf(start_time);
  const end = minutesOf(end_time);
  // 1970-01-01 was a Thursday.
  const begins = (day: number) => days.length === 0 || days.includes((((day + 4) % 7) + 7) % 7);
  const endsAt = (day: number) => day * DAY_MS + end * MINUTE;
  if (start < end) return begins(date) && minute >= start && minute < end ? endsAt(date) : null;
  if (begins(date) && minute >= start) return endsAt(date + 1);
  return begins(date - 1) && minute < end ? endsAt(date) : null;
}

interface Dark {
  /** The label of the window. Empty if it has none. */
  readonly label: string;
  /** The first moment that is not dark, in ms since the epoch. Null: there is none. */
  readonly until: number | null;
}

/** Null: it is not dark at `now`. Windows that follow or overlap each other count as one. */
export function blackoutAt(blackouts: readonly Blackout[], zone: string, now: number): Dark | null {
  const first = blackouts.find((blackout) => endOf(blackout, wallTime(zone, now), now) !== null);
  if (!first) return null;
  const lastOnce = Math.max(
    now,
    ...blackouts.map((blackout) => (blackout.type === 'one_off' ? wallOf(blackout.end_time, 0) : now)),
  );
  for (let time = now; time - lastOnce <= WHOLE_ROUND;) {
    const wall = wallTime(zone, time);
    const ends = blackouts.flatMap((blackout) => endOf(blackout, wall, time) ?? []);
    if (ends.length === 0) return { label: first.label, until: time };
    const shift = wall - time;
    const end = Math.max(...ends) - shift;
    const changed = (at: number) => wallTime(zone, at) - at !== shift;
    time = changed(end) ? firstWhere(time, end, changed) : end;
  }
  return { label: first.label, until: null };
}
