import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addOne,
  addRange,
  contains,
  count,
  highest,
  intersect,
  lastOf,
  NO_RANGES,
  subtract,
  union,
  type Ranges,
} from '../../../../src/shared/domain/ranges.ts';

const TOP = 40;
const numbers = fc.uniqueArray(fc.integer({ min: 1, max: TOP }), { maxLength: TOP });
const set = (ranges: Ranges) =>
  new Set(ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_none, i) => from + i)));
const ranges = (list: Iterable<number>) => [...list].reduce<Ranges>(addOne, NO_RANGES);
const sorted = (list: Iterable<number>) => [...list].sort((a, b) => a - b);
/** Ascending, not empty, never touching: the one way to write a set. */
const wellFormed = (given: Ranges) =>
  given.every(([from, to], i) => from <= to && from > (given[i - 1]?.[1] ?? -1) + 1);

/** That an operation gives the same as one on plain sets, in the one form there is. */
function agrees(
  operation: (a: Ranges, b: Ranges) => Ranges,
  plain: (a: Set<number>, b: Set<number>) => number[],
): void {
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const [left, right] = [ranges(a), ranges(b)];
      const before = JSON.stringify([left, right]);
      const made = operation(left, right);
      expect(sorted(set(made))).toEqual(sorted(plain(new Set(a), new Set(b))));
      expect(wellFormed(made)).toBe(true);
      expect(JSON.stringify([left, right])).toBe(before);
    }),
    { numRuns: 500 },
  );
}

describe('ranges', () => {
  it('hold what was added one by one, in any order', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const made = ranges(list);
        expect(sorted(set(made))).toEqual(sorted(list));
        expect(wellFormed(made)).toBe(true);
        expect(count(made)).toBe(list.length);
        expect(highest(made)).toBe(Math.max(0, ...list));
        for (let n = 0; n <= TOP + 1; n++) expect(contains(made, n)).toBe(list.includes(n));
      }),
      { numRuns: 500 },
    );
  });

  it('take a whole range as they take its numbers', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: TOP }), fc.integer({ min: 0, max: 10 }), (list, from, length) => {
        const one = Array.from({ length }, (_none, i) => from + i);
        expect(addRange(ranges(list), from, from + length - 1)).toEqual(ranges([...list, ...one]));
      }),
      { numRuns: 500 },
    );
  });

  it('unites, subtracts and compares ranges as sets', () => {
    agrees(union, (a, b) => [...new Set([...a, ...b])]);
    agrees(subtract, (a, b) => [...a].filter((n) => !b.has(n)));
    agrees(intersect, (a, b) => [...a].filter((n) => b.has(n)));
  });

  it('give their last numbers, in so many pieces', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: TOP }), fc.integer({ min: 1, max: 5 }), (list, most, pieces) => {
        const made = lastOf(ranges(list), most, pieces);
        expect(wellFormed(made)).toBe(true);
        expect(made.length).toBeLessThanOrEqual(pieces);
        const taken = sorted(set(made));
        expect(taken).toEqual(taken.length === 0 ? [] : sorted(list).slice(-taken.length));
        if (made.length < pieces) expect(taken.length).toBe(Math.min(most, list.length));
      }),
      { numRuns: 500 },
    );
  });

  it('reach as far as whole numbers do', () => {
    const top = Number.MAX_SAFE_INTEGER;
    expect(subtract([[1, top]], [[5, top - 1]])).toEqual([
      [1, 4],
      [top, top],
    ]);
    expect(count([[1, top]])).toBe(top);
  });
});
