/**
 * Agents that begin together are drawn apart: nothing that was chosen to the minute moves, and what
 * moves moves little.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clashesOf,
  laterBy,
  momentsBetween,
  type Spreadable,
  spreadClashes,
} from '../../../../../src/shared/domain/schedule/timeline.ts';
import type { Timing } from '../../../../../src/shared/domain/schedule/timing.ts';
import { createCronClock } from '../../../../../src/shared/protocol/timing-arguments.ts';

const NOW = Date.parse('2026-11-22T18:00Z');
const WEEK = 7 * 24 * 3_600_000;
const context = { cron: createCronClock(), zone: 'Europe/Berlin', isDark: () => false };
const of = (id: string, timing: Timing, more: Partial<Spreadable> = {}): Spreadable => ({
  id,
  agentId: `agent of ${id}`,
  timing,
  offset: 0,
  ...more,
});
const clashes = (schedules: readonly Spreadable[]) =>
  clashesOf(
    momentsBetween(
      schedules.map((each) => ({ ...each, enabled: true, inDark: true })),
      NOW,
      NOW + WEEK,
      { ...context, offsetOf: (id) => schedules.find((each) => each.id === id)?.offset ?? 0, blackoutsOf: () => [] },
    ),
  );
const applied = (schedules: readonly Spreadable[]) => {
  const shifts = spreadClashes(schedules, NOW, NOW + WEEK, context);
  return schedules.map((each) => ({ ...each, timing: shifts.find(({ id }) => id === each.id)?.after ?? each.timing }));
};
const weekly = (time: string, days: number[] = []): Timing => ({ kind: 'weekly', days, time, zone: null });

describe('what begins together is drawn apart', () => {
  it('keeps the first, and moves the next by three minutes each', () => {
    const schedules = ['a', 'b', 'c', 'd'].map((id) => of(id, weekly('07:30')));
    expect(clashes(schedules)).toHaveLength(7);
    expect(applied(schedules).map(({ timing }) => timing.kind === 'weekly' && timing.time)).toEqual([
      '07:30',
      '07:33',
      '07:36',
      '07:39',
    ]);
    expect(clashes(applied(schedules))).toEqual([]);
  });

  it('moves nothing of one agent away from itself, nothing that is apart, and nothing in the dark', () => {
    const own = [
      of('a', weekly('07:30')),
      of('b', weekly('07:30'), { agentId: 'agent of a' }),
      of('c', weekly('09:00')),
    ];
    expect(spreadClashes(own, NOW, NOW + WEEK, context)).toEqual([]);
    const dark = { ...context, isDark: (agentId: string) => agentId === 'agent of b' };
    expect(spreadClashes([of('a', weekly('03:00')), of('b', weekly('03:00'))], NOW, NOW + WEEK, dark)).toEqual([]);
  });

  it('leaves a moment that was chosen, and lets what comes round make room for it', () => {
    const once = Date.parse('2026-11-23T06:30Z');
    const schedules = [of('a', weekly('07:30')), of('b', { kind: 'once', at: once })];
    const shifts = spreadClashes(schedules, NOW, NOW + WEEK, context);
    expect(shifts.map(({ id, minutes }) => [id, minutes])).toEqual([['a', 3]]);
  });

  it('says the same a little later in each way of saying when, and not where that would be another day or hour', () => {
    expect(laterBy({ kind: 'every', minutes: 30, offset: 28 }, 3, 0)).toEqual({
      kind: 'every',
      minutes: 30,
      offset: 1,
    });
    expect(laterBy({ kind: 'every', minutes: 30, offset: null }, 3, 6)).toMatchObject({ offset: 9 });
    expect(laterBy({ kind: 'every', minutes: 3, offset: null }, 3, 0)).toBeNull();
    expect(laterBy(weekly('09:58'), 3, 0)).toMatchObject({ time: '10:01' });
    expect(laterBy(weekly('23:58'), 3, 0)).toBeNull();
    expect(laterBy({ kind: 'cron', cron: '30 7 * * 1-5', zone: null }, 3, 0)).toMatchObject({ cron: '33 7 * * 1-5' });
    expect(laterBy({ kind: 'cron', cron: '58 7 * * *', zone: null }, 3, 0)).toBeNull();
    expect(laterBy({ kind: 'cron', cron: '*/5 * * * *', zone: null }, 3, 0)).toBeNull();
  });

  it('spreads any schedules without creating a new collision', () => {
    const timing: fc.Arbitrary<Timing> = fc.oneof(
      fc.record({
        kind: fc.constant('weekly' as const),
        days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })),
        time: fc.constantFrom('07:30', '07:31', '23:58', '02:30'),
        zone: fc.constantFrom(null, 'America/New_York'),
      }),
      fc.record({
        kind: fc.constant('every' as const),
        minutes: fc.constantFrom(60, 120, 480),
        offset: fc.constantFrom(null, 0, 30),
      }),
      fc.record({
        kind: fc.constant('cron' as const),
        cron: fc.constantFrom('30 7 * * *', '30 */2 * * *'),
        zone: fc.constant(null),
      }),
    );
    fc.assert(
      fc.property(fc.array(timing, { minLength: 2, maxLength: 6 }), (timings) => {
        const schedules = timings.map((each, i) => of(`s${i}`, each));
        const shifts = spreadClashes(schedules, NOW, NOW + WEEK, context);
        const after = applied(schedules);
        const moved = new Set(shifts.map(({ id }) => id));
        const meeting = (all: readonly Spreadable[]) => new Set(clashes(all).flatMap(({ agentIds }) => agentIds));
        for (const { id, agentId } of after) if (moved.has(id)) expect(meeting(after)).not.toContain(agentId);
        expect([...meeting(schedules)]).toEqual(expect.arrayContaining([...meeting(after)]));
        expect(spreadClashes(after, NOW, NOW + WEEK, context).filter(({ id }) => moved.has(id))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
