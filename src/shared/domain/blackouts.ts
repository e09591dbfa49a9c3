/**
 * Hours in which an agent is not woken. It is dark while the clock on the wall shows a time inside
 * a window: where clocks go forward, a window may be over early; where they go back, an hour that
 * is shown twice is dark twice.
 */
import { readDateTime, type Blackout, type OneOffBlackout, type RecurringBlackout } from './guardrails.ts';
import { DAY_MS, firstWhere, wallTime } from './zone-days.ts';

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

export interface Dark {
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
