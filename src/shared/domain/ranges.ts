/**
 * Sets of positive whole numbers as ranges: which entries of a log a replica has. No function
 * changes its arguments.
 */

/** Inclusive ranges, ascending, with at least one number missing between two of them. */
export type Ranges = readonly (readonly [from: number, to: number])[];

export const NO_RANGES: Ranges = [];

/** Numbers that are in either set. */
export function union(a: Ranges, b: Ranges): Ranges {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const left = a[i];
    const right = b[j];
    const next = left !== undefined && (right === undefined || left[0] <= right[0]) ? left : right;
    if (next === undefined) break;
    if (next === left) i += 1;
    else j += 1;
    const last = out.at(-1);
    if (last !== undefined && next[0] <= last[1] + 1) last[1] = Math.max(last[1], next[1]);
    else out.push([next[0], next[1]]);
  }
  return out;
}

export const addRange = (ranges: Ranges, from: number, to: number): Ranges =>
  from > to ? ranges : union(ranges, [[from, to]]);

export const addOne = (ranges: Ranges, number: number): Ranges =>
  contains(ranges, number) ? ranges : union(ranges, [[number, number]]);

/** Numbers that are in `a` and not in `b`. */
export function subtract(a: Ranges, b: Ranges): Ranges {
  if (a.length === 0 || b.length === 0) return a;
  const out: [number, number][] = [];
  let j = 0;
  for (const [from, to] of a) {
    let start = from;
    while (j < b.length && (b[j]?.[1] ?? 0) < start) j += 1;
    for (let k = j; start <= to; k++) {
      const hole = b[k];
      if (hole === undefined || hole[0] > to) {
        out.push([start, to]);
        break;
      }
      if (hole[0] > start) out.push([start, hole[0] - 1]);
      start = Math.max(start, hole[1] + 1);
    }
  }
  return out;
}

export const isSame = (a: Ranges, b: Ranges): boolean =>
  a.length === b.length && a.every(([from, to], i) => from === b[i]?.[0] && to === b[i]?.[1]);

/** Numbers that are in both sets. */
export function intersect(a: Ranges, b: Ranges): Ranges {
  const out: [number, number][] = [];
  for (let i = 0, j = 0; ;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined || right === undefined) return out;
    const from = Math.max(left[0], right[0]);
    const to = Math.min(left[1], right[1]);
    if (from <= to) out.push([from, to]);
    if (left[1] < right[1]) i += 1;
    else j += 1;
  }
}

export function contains(ranges: Ranges, number: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (number < range[0]) high = middle - 1;
    else if (number > range[1]) low = middle + 1;
    else return true;
  }
  return false;
}

/** How many numbers the set contains. */
export const count = (ranges: Ranges): number => ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);

/** The largest number, or 0 for an empty set. */
export const highest = (ranges: Ranges): number => ranges.at(-1)?.[1] ?? 0;

/** The largest `most` numbers, in at most `pieces` ranges. */
export function lastOf(ranges: Ranges, most: number, pieces: number): Ranges {
  const out: [number, number][] = [];
  let left = most;
  for (let i = ranges.length - 1; i >= 0 && left > 0 && out.length < pieces; i--) {
    const range = ranges[i];
    if (range === undefined) break;
    const from = Math.max(range[0], range[1] - left + 1);
    out.unshift([from, range[1]]);
    left -= range[1] - from + 1;
  }
  return out;
}
