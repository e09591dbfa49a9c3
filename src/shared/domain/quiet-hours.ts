/** Hours of the day in which a person is left alone. */
import { firstWhere, timeOfDay } from './zone-days.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Minutes of the day. Over midnight where it ends before it begins; none where both are one. */
export interface QuietHours {
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
