/** When things are due: by random schedules, in zones and on the nights when clocks change. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CATCH_UP,
  CATCH_UP_LIMITS,
  comesWithin,
  judgeSlots,
  rowOf,
  slotAfter,
  slotsBetween,
  spreadOffsets,
  type Timing,
  type TimingContext,
} from '../../../../../src/shared/domain/schedule/timing.ts';
import { clashesOf, darkAt, darkSpans, momentsBetween } from '../../../../../src/shared/domain/schedule/timeline.ts';
import { wallTime } from '../../../../../src/shared/domain/zone-days.ts';
import { createCronClock, cronProblem } from '../../../../../src/shared/protocol/timing-arguments.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const cron = createCronClock();
const BERLIN: TimingContext = { cron, zone: 'Europe/Berlin', offset: 0 };
const at = (text: string) => Date.parse(text);
const iso = (slots: readonly number[]) => slots.map((slot) => new Date(slot).toISOString().slice(0, 16));

describe('what comes again within the hour', () => {
  const zone = null;
  it.each<[Timing, boolean]>([
    [{ kind: 'every', minutes: 59, offset: null }, true],
    [{ kind: 'every', minutes: 60, offset: null }, false],
    [{ kind: 'cron', cron: '*/30 * * * *', zone }, true],
    [{ kind: 'cron', cron: '0 * * * *', zone }, false],
    // Close together only once a day, and once a month: also seen from the later of the two.
    [{ kind: 'cron', cron: '40,50 8 * * *', zone }, true],
    [{ kind: 'cron', cron: '0,20 9 23 * *', zone }, true],
    [{ kind: 'weekly', days: [], time: '09:00', zone }, false],
    [{ kind: 'once', at: at('2026-11-23T09:00:00Z') }, false],
  ])('knows whether %j comes again within the hour: %s', (timing, within) => {
    expect(comesWithin(timing, HOUR, at('2026-11-23T08:20:00Z'), BERLIN)).toBe(within);
  });
});

const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC');
const clockTime = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const timing: fc.Arbitrary<Timing> = fc.oneof(
  fc.integer({ min: 1, max: 10_080 }).chain((minutes) =>
    fc.record({
      kind: fc.constant('every' as const),
      minutes: fc.constant(minutes),
      offset: fc.option(fc.integer({ min: 0, max: minutes - 1 })),
    }),
  ),
  fc.record({
    kind: fc.constant('weekly' as const),
    days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })),
    time: clockTime,
    zone: fc.option(zones),
  }),
  fc.record({
    kind: fc.constant('cron' as const),
    cron: fc.constantFrom('*/7 * * * *', '30 2 * * *', '0 */5 * * 1-5', '15 3 1 * *', '0 0 * * 0'),
    zone: fc.option(zones),
  }),
);
const moment = fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2027-12-31T00:00Z') });

describe('moments at which something is due', () => {
  it('follow from the schedule alone: asked in pieces they are the same as asked at once', () => {
    fc.assert(
      fc.property(
        timing,
        moment,
        fc.array(fc.integer({ min: 1, max: 3 * DAY }), { maxLength: 6 }),
        (each, from, steps) => {
          const to = from + steps.reduce((sum, step) => sum + step, 0);
          const whole = slotsBetween(each, from, to, BERLIN);
          let time = from;
          const pieces = steps.flatMap((step) => slotsBetween(each, time, (time += step), BERLIN));
          expect(pieces).toEqual(whole);
          for (const [i, slot] of whole.entries()) expect(slot).toBeGreaterThan(whole[i - 1] ?? from);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('comes once per interval, whatever happened before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_080 }), moment, (minutes, from) => {
        const each = { kind: 'every', minutes, offset: null } as const;
        const first = slotAfter(each, from, BERLIN) ?? 0;
        expect(first - from).toBeLessThanOrEqual(minutes * MINUTE);
        expect(slotAfter(each, first, BERLIN)).toBe(first + minutes * MINUTE);
      }),
    );
  });

  it('comes once a day at a time of day, also on the nights when clocks change', () => {
    const each = { kind: 'weekly', days: [], time: '02:30', zone: null } as const;
    // The clock leaves it out: the first moment after. It shows it twice: the first.
    expect(iso(slotsBetween(each, at('2026-03-28T12:00Z'), at('2026-03-30T12:00Z'), BERLIN))).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(iso(slotsBetween(each, at('2026-10-24T12:00Z'), at('2026-10-26T12:00Z'), BERLIN))).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    fc.assert(
      fc.property(zones, clockTime, moment, (zone, time, from) => {
        const days = slotsBetween({ kind: 'weekly', days: [], time, zone }, from, from + 7 * DAY, BERLIN);
        expect(new Set(days.map((slot) => Math.floor(wallTime(zone, slot) / DAY))).size).toBe(days.length);
        expect(days.length).toBeGreaterThanOrEqual(6);
        expect(days.length).toBeLessThanOrEqual(8);
      }),
      { numRuns: 40 },
    );
  });

  it('refuses a text that is no schedule', () => {
    expect(cronProblem('30 7 * * 1-5')).toBeNull();
    expect(cronProblem('')).toContain('five fields');
    expect(cronProblem('* * * * * *')).toContain('five fields');
    expect(cronProblem('61 * * * *')).toContain('minute');
    expect(cronProblem('0 0 30 2 *')).toBe('is never due');
  });
});

describe('what is shown of the time to come', () => {
  it('shows future moments in the order and with the blackouts that the clock follows', () => {
    const blackouts = [{ label: 'night', start_time: '22:00', end_time: '06:00', days: [] }];
    fc.assert(
      fc.property(fc.array(timing, { minLength: 1, maxLength: 4 }), moment, (timings, from) => {
        const schedules = timings.map((each, i) => ({
          id: `s${i}`,
          agentId: `a${i % 2}`,
          timing: each,
          enabled: i !== 3,
          inDark: i === 2,
        }));
        const to = from + DAY;
        const moments = momentsBetween(schedules, from, to, {
          cron,
          zone: 'Europe/Berlin',
          offsetOf: () => 0,
          blackoutsOf: () => blackouts,
        });
        for (const schedule of schedules) {
          const own = moments.filter(({ id }) => id === schedule.id);
          expect(own.map((each) => each.at)).toEqual(
            schedule.enabled ? slotsBetween(schedule.timing, from, to, BERLIN) : [],
          );
          for (const each of own) expect(each.dark).toBe(darkAt(schedule, blackouts, 'Europe/Berlin', each.at));
        }
        const spans = darkSpans(blackouts, 'Europe/Berlin', from, to);
        for (const each of moments.filter(({ id }) => id !== 's2'))
          // Spans are cut off at the end of what is shown, and the last moment may lie exactly
          // there.
          expect(spans.some((span) => each.at >= span.from && (each.at < span.to || each.at === to))).toBe(
            each.dark !== null,
          );
      }),
      { numRuns: 25, examples: [[[{ kind: 'cron', cron: '*/7 * * * *', zone: null }], at('2026-01-01T00:00Z')]] },
    );
  });

  it('marks where agents begin together, and where four do', () => {
    const moments = [0, 1, 2, 3].map((i) => ({ id: `s${i}`, agentId: `a${i}`, at: i * MINUTE, dark: null }));
    expect(clashesOf(moments)).toMatchObject([{ from: 0, to: 3 * MINUTE, critical: true }]);
    expect(clashesOf(moments.slice(0, 2))).toMatchObject([{ critical: false, agentIds: ['a0', 'a1'] }]);
    expect(clashesOf(moments.map((each) => ({ ...each, agentId: 'a0' })))).toEqual([]);
    expect(clashesOf(moments.map((each, i) => ({ ...each, at: i * 2 * MINUTE })))).toEqual([]);
    expect(clashesOf(moments.map((each) => ({ ...each, dark: 'night' })))).toEqual([]);
  });
});

describe('offsets', () => {
  it('leave the person’s own as they are, and keep the others apart', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(30, 60, 240),
        fc.array(fc.option(fc.integer({ min: 0, max: 29 })), { minLength: 1, maxLength: 9 }),
        (minutes, own) => {
          const intervals = own.map((offset, i) => ({ id: `s${i}`, minutes, offset }));
          const given = spreadOffsets(intervals);
          for (const { id, offset } of intervals) if (offset !== null) expect(given.get(id)).toBe(offset);
          if (own.every((offset) => offset === null)) {
            const all = [...given.values()].sort((a, b) => a - b);
            for (const [i, each] of all.entries())
              if (i > 0) expect(each - (all[i - 1] ?? 0)).toBeGreaterThanOrEqual(3);
          }
          expect(given.size).toBe(own.length);
        },
      ),
    );
  });
});

describe('moments that have come', () => {
  const now = at('2026-11-23T12:00Z');
  it('come to one verdict each, in order, and are never a burst', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 12 * HOUR }), { maxLength: 60 }),
        fc.constantFrom(...CATCH_UP),
        fc.option(fc.tuple(fc.integer({ min: 0, max: 6 * HOUR }), fc.integer({ min: 1, max: 6 * HOUR }))),
        (ages, catchUp, stop) => {
          const slots = ages.map((age) => now - age).sort((a, b) => a - b);
          const stops = stop ? [{ from: now - stop[0] - stop[1], to: now - stop[0] }] : [];
          const verdicts = judgeSlots(slots, now, catchUp, stops);
          expect(verdicts.map(({ slot }) => slot)).toEqual(slots);
          const late = verdicts.filter((each) => each.kind === 'run' && each.late);
          expect(late.length).toBeLessThanOrEqual({ skip: 0, once: 1, each: CATCH_UP_LIMITS.most }[catchUp]);
          for (const { slot } of late) expect(now - slot).toBeLessThanOrEqual(CATCH_UP_LIMITS.windowMs);
          for (const each of verdicts)
            if (stops.some(({ from, to }) => each.slot >= from && each.slot < to))
              expect(each).toMatchObject({ kind: 'end', end: { state: 'skipped', reason: 'planned-stop' } });
        },
      ),
    );
  });

  it('count in a row what was skipped or failed, and pass over what was idle', () => {
    const done = { state: 'done', reason: null } as const;
    const busy = { state: 'skipped', reason: 'agent-busy' } as const;
    const idle = { state: 'skipped', reason: 'nothing-waits' } as const;
    const failed = { state: 'failed', reason: null } as const;
    expect(rowOf([busy, idle, busy, done, busy], 'skipped')).toBe(2);
    expect(rowOf([failed, failed, idle, failed, done], 'failed')).toBe(3);
    expect(rowOf([idle, idle, idle], 'skipped')).toBe(0);
  });
});
