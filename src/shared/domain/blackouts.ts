/**
 * Hours in which an agent is not woken. It is dark while the clock on the wall shows a time inside
 * a window: where clocks go forward, a window may be over early; where they go back, an hour that
 * is shown twice is dark twice.
 */
import { DAY_MS, firstWhere, timeOfDay, wallTime } from './zone-days.ts';
import { type Blackout, type OneOffBlackout, readDateTime, type RecurringBlackout } from './guardrails.ts';

// Hours of the day in which a person is left alone.

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Minutes of the day. Over midnight where it ends before it begins; none where both are one. */
interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/**
 * ms from `minute` of the day until the quiet hours end, where no clock is changed meanwhile; 0:
 * they are not now.
 */
function quietFor(quiet: QuietHours | null, minute: number): number {
  if (quiet === null || quiet.from === quiet.to) return 0;
  const since = (minute - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  const length = (quiet.to - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  return since < length ? (length - since) * MINUTE_MS : 0;
}

/**
 * When they are over, in ms since the epoch; `at` itself where they are not at that time. By the
 * clocks of that zone, also where those are changed in between. Throws a `RangeError` where there
 * is no such zone.
 */
export function quietUntil(quiet: QuietHours | null, zone: string, at: number): number {
  const left = (time: number) => quietFor(quiet, Math.floor(timeOfDay(zone, time) / MINUTE_MS));
  let [before, end] = [at, at];
  // Where clocks go back they are not over yet; where they go forward they were over before.
  for (let more = left(end); more > 0; more = left(end)) [before, end] = [end, end + more];
  return before === end ? at : firstWhere(before, end, (time) => left(time) === 0);
}

const MINUTE = 60_000;
/** After so long, everything that comes again has been: windows repeat each week. */
const WHOLE_ROUND = 8 * DAY_MS;

function minutesOf(clockTime: string): number {
  const [hours = 0, minutes = 0] = clockTime.split(':').map(Number);
  return hours * 60 + minutes;
}

/** A moment of a one-off, as wall time while the clock on the wall is `shift` ahead of UTC. */
function wallOf(text: string, shift: number): number {
  const read = readDateTime(text);
  if (read === null) throw new RangeError(`not a date and a time: ${text}`);
  return read.fixed ? read.wall + shift : read.wall;
}

const endOfOneOff = ({ start_time, end_time }: OneOffBlackout, wall: number, shift: number): number | null => {
  const end = wallOf(end_time, shift);
  return wall >= wallOf(start_time, shift) && wall < end ? end : null;
};

/** When this window ends, as wall time; null where it is not dark at `time`. */
function endOf(blackout: Blackout, wall: number, time: number): number | null {
  return blackout.type === 'one_off' ? endOfOneOff(blackout, wall, wall - time) : endOfRecurring(blackout, wall);
}

/** An end that is not after the start lies in the next day. */
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
  /** The label of the window; empty where it has none. */
  readonly label: string;
  /** ms since the epoch: the first moment that is not dark; null where there is none. */
  readonly until: number | null;
}

/** Null: it is not dark. Windows that follow or overlap each other are one. */
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
