/** Hours of the day in which a person is left alone. */
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Minutes of the day. Over midnight where it ends before it begins; none where both are one. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/** ms from `minute` of the day until the quiet hours end; 0: they are not now. */
export function quietFor(quiet: QuietHours | null, minute: number): number {
  if (quiet === null || quiet.from === quiet.to) return 0;
  const since = (minute - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  const length = (quiet.to - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  return since < length ? (length - since) * MINUTE_MS : 0;
}
