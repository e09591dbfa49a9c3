/** Shows how long something has lasted. */
import { t } from '../../language/t.ts';
import { useNow } from '../hooks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** ms: shorter durations are not shown. */
export const WORTH_SAYING = 2 * SECOND;

/** `12 s`, `3 min`, `2 h` */
export function spanText(ms: number): string {
  if (ms < MINUTE) return t`${Math.floor(ms / SECOND)} s`;
  return ms < HOUR ? t`${Math.floor(ms / MINUTE)} min` : t`${Math.floor(ms / HOUR)} h`;
}

/** The duration of an activity. It subscribes to the clock by itself. */
export function Lasts({ from }: { from: number }) {
  const lasted = useNow(SECOND) - from;
  return lasted < WORTH_SAYING ? null : <span className="activity-span"> · {spanText(lasted)}</span>;
}
