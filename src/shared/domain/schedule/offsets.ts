/** Agents that do something at the same interval do it one after another, and never all at once. */
import { OFFSET_BOUNDS } from './timing.ts';

/** Minutes between two of them, where the interval has room for it. */
export const SPREAD_MINUTES = 3;

export interface Interval {
  /** Names it among those that are spread. */
  readonly id: string;
  readonly minutes: number;
  /** What the person has set, and is never changed; null: nothing. */
  readonly offset: number | null;
}

const positive = (value: number, modulus: number) => ((value % modulus) + modulus) % modulus;

/**
 * The offset of each, in minutes. What the person has set stands. The others get, in the order of
 * their names, the first place of their interval that is free; where there are more of them than
 * places, those that are free the longest.
 */
export function spreadOffsets(intervals: readonly Interval[], spread = SPREAD_MINUTES): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  const byMinutes = new Map<number, Interval[]>();
  for (const each of intervals) byMinutes.set(each.minutes, [...(byMinutes.get(each.minutes) ?? []), each]);
  for (const [minutes, group] of byMinutes) {
    const taken = group.flatMap(({ id, offset }) => {
      if (offset === null) return [];
      const own = positive(offset, minutes);
      offsets.set(id, own);
      return [own];
    });
    const free = group.filter(({ offset }) => offset === null).sort((a, b) => (a.id < b.id ? -1 : 1));
    // All of them a little closer where the interval has no room for the whole distance.
    const step = Math.max(Math.min(spread, Math.floor(minutes / Math.max(1, group.length))), 1);
    for (const { id } of free) {
      const own = placeFor(taken, minutes, step);
      taken.push(own);
      offsets.set(id, own);
    }
  }
  return offsets;
}

function placeFor(taken: readonly number[], minutes: number, step: number): number {
  const distance = (a: number, b: number) => Math.min(positive(a - b, minutes), positive(b - a, minutes));
  const room = (at: number) => Math.min(minutes, ...taken.map((other) => distance(at, other)));
  let best = 0;
  for (let at = 0; at < Math.min(minutes, OFFSET_BOUNDS.max + 1); at += step) {
    if (room(at) >= step) return at;
    if (room(at) > room(best)) best = at;
  }
  return best;
}
