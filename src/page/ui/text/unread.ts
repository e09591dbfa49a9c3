/** How much is new, as people read it. */
import { UNREAD_MOST } from '../../../shared/domain/read-marks.ts';

/** `7`, `99+`: of one conversation, or of several together. '' where nothing is new. */
export function newCount(counts: Iterable<number>): string {
  const all = [...counts];
  const sum = all.reduce((total, n) => total + n, 0);
  return sum === 0 ? '' : `${sum}${all.some((n) => n >= UNREAD_MOST) ? '+' : ''}`;
}
