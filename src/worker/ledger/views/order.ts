/**
 * Keys that sort newest first. IndexedDB hands out many records at once only in ascending order, so
 * the views' indexes hold the complement of each stamp's digits.
 */
import type { Stamp } from '../../../shared/domain/stamp.ts';

/** A key that sorts against time: the digits of the stamp's time and counter, each taken from 9. */
export function newestFirst(stamp: Stamp): string {
  return stamp.slice(0, 22).replace(/\d/g, (digit) => String(9 - Number(digit)));
}

export { byAge } from '../../../shared/protocol/documents/kind.ts';
