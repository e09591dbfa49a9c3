import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createClock,
  formatStamp,
  LAST_TIME,
  MAX_AHEAD_MS,
  MAX_TIME,
  parseStamp,
} from '../../../../src/shared/domain/stamp.ts';

const parts = fc.record({
  time: fc.integer({ min: 0, max: MAX_TIME }),
  counter: fc.integer({ min: 0, max: 999_999 }),
  node: fc.stringMatching(/^[A-Za-z0-9_.]{1,64}$/),
});
const timeOf = (stamp: string) => parseStamp(stamp)?.time;

describe('a stamp', () => {
  it('parses a stamp back to what it was made from', () => {
    fc.assert(
      fc.property(parts, (made) => {
        expect(parseStamp(formatStamp(made))).toEqual(made);
      }),
    );
  });

  it('sorts as text the way time, then counter, then node do', () => {
    const near = fc.record({
      time: fc.integer({ min: 8, max: 12 }),
      counter: fc.integer({ min: 8, max: 12 }),
      node: fc.constantFrom('a', 'b'),
    });
    const order = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
    fc.assert(
      fc.property(fc.oneof(parts, near), fc.oneof(parts, near), (a, b) => {
        const byParts = order(a.time, b.time) || order(a.counter, b.counter) || order(a.node, b.node);
        expect(order(formatStamp(a), formatStamp(b))).toBe(byParts);
      }),
      { numRuns: 1000 },
    );
  });

  it('never names a time before the epoch or half a millisecond', () => {
    expect(formatStamp({ time: -5, counter: 0, node: 'n' })).toBe('000000000000000-000000-n');
    expect(formatStamp({ time: 7.9, counter: 0, node: 'n' })).toBe('000000000000007-000000-n');
  });

  it.each([
    '',
    'now',
    '000000000000001-000001-',
    '1-000001-n',
    '000000000000001-000001-n m',
    '000000000000001-1-n',
    ' 000000000000001-000001-n',
  ])('refuses %j as a stamp', (text) => {
    expect(parseStamp(text)).toBeNull();
  });
});

describe('a clock', () => {
  it('makes ever later stamps, whatever the wall clock does and whatever it follows', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('wall' as const), to: fc.integer({ min: 0, max: 50 }) }),
        fc.record({ do: fc.constant('next' as const) }),
        fc.record({
          do: fc.constant('follow' as const),
          stamp: fc.record({
            time: fc.integer({ min: 0, max: 60 }),
            counter: fc.constantFrom(0, 3, 999_998, 999_999),
            node: fc.constantFrom('a', 'z'),
          }),
        }),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (todo) => {
        let wall = 0;
        let last = '';
        const clock = createClock({ now: () => wall, node: 'm' });
        for (const step of todo) {
          if (step.do === 'wall') wall = step.to;
          else if (step.do === 'follow') {
            const stamp = formatStamp(step.stamp);
            clock.follow(stamp);
            const made = clock.next();
            expect(made > stamp && made > last).toBe(true);
            last = made;
          } else {
            const made = clock.next();
            expect(made > last).toBe(true);
            expect(parseStamp(made)).not.toBeNull();
            last = made;
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('follows the wall clock', () => {
    let wall = 1000;
    const clock = createClock({ now: () => wall, node: 'n' });
    expect(clock.next()).toBe('000000000001000-000000-n');
    expect(clock.next()).toBe('000000000001000-000001-n');
    wall = 2000;
    expect(clock.next()).toBe('000000000002000-000000-n');
    wall = 500;
    expect(clock.next()).toBe('000000000002000-000001-n');
  });

  it('follows whatever is dated before the year 10000, and nothing later', () => {
    const clock = createClock({ now: () => 1000, node: 'n' });
    clock.follow(formatStamp({ time: LAST_TIME + 1, counter: 0, node: 'far' }));
    expect(timeOf(clock.next())).toBe(1000);
    clock.follow(formatStamp({ time: LAST_TIME, counter: 5, node: 'near' }));
    expect(clock.next()).toBe(formatStamp({ time: LAST_TIME, counter: 6, node: 'n' }));
    expect(clock.lead()).toBe(LAST_TIME - 1000);
  });

  it('knows what lies too far ahead of the wall and of all that it has seen', () => {
    const clock = createClock({ now: () => 1000, node: 'n' });
    const at = (time: number) => formatStamp({ time, counter: 0, node: 'n' });
    expect([clock.isAhead(at(1000 + MAX_AHEAD_MS)), clock.isAhead(at(1001 + MAX_AHEAD_MS))]).toEqual([false, true]);
    clock.follow(at(5000));
    expect([clock.isAhead(at(5000 + MAX_AHEAD_MS)), clock.isAhead(at(5001 + MAX_AHEAD_MS))]).toEqual([false, true]);
    expect(clock.isAhead('tomorrow')).toBe(false);
  });

  it('goes to the next millisecond where its counter is full', () => {
    const clock = createClock({ now: () => 1000, node: 'n' });
    clock.follow(formatStamp({ time: 1000, counter: 999_999, node: 'z' }));
    expect(clock.next()).toBe('000000000001001-000000-n');
  });

  it('ignores an invalid or older stamp', () => {
    const clock = createClock({ now: () => 1000, node: 'n' });
    clock.next();
    clock.follow('tomorrow');
    clock.follow(formatStamp({ time: 1, counter: 77, node: 'old' }));
    expect(clock.next()).toBe('000000000001000-000001-n');
  });
});
