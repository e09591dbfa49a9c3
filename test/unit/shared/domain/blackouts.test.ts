import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blackoutAt } from '../../../../src/shared/domain/blackouts.ts';
import type { Blackout, RecurringBlackout } from '../../../../src/shared/domain/guardrails.ts';
import { DAY_MS, wallTime } from '../../../../src/shared/domain/zone-days.ts';

const BERLIN = 'Europe/Berlin';
const MINUTE = 60_000;
const utc = (text: string) => Date.parse(`${text}Z`);
const from = (start_time: string, end_time: string, days: readonly number[] = [], label = ''): Blackout => ({
  label,
  start_time,
  end_time,
  days,
});
const until = (blackouts: readonly Blackout[], time: string, zone = BERLIN) => {
  const dark = blackoutAt(blackouts, zone, utc(time));
  return dark === null || dark.until === null ? null : new Date(dark.until).toISOString().slice(0, 16);
};

describe('a blackout', () => {
  const night = [from('22:00', '06:00', [], 'night')];

  it.each([
    ['the minute before', '2026-06-16T19:59', null],
    ['its first', '2026-06-16T20:00', '2026-06-17T04:00'],
    ['midnight', '2026-06-16T22:00', '2026-06-17T04:00'],
    ['its last minute', '2026-06-17T03:59', '2026-06-17T04:00'],
    ['its end', '2026-06-17T04:00', null],
  ])('judges a blackout past midnight right at %s', (_, time, expected) => {
    expect(until(night, time)).toBe(expected);
  });

  it.each([
    ['the night that is an hour short', '2026-03-28T21:00', '2026-03-29T04:00'],
    ['the night that is an hour long', '2026-10-24T20:00', '2026-10-25T05:00'],
  ])('ends by the clock on the wall in %s', (_, time, expected) => {
    expect(until(night, time)).toBe(expected);
  });

  it('ends at once when the clocks jump over its end', () => {
    expect(until([from('01:00', '02:30')], '2026-03-29T00:30')).toBe('2026-03-29T01:00');
  });

  it('covers both hours when the clocks show an hour twice', () => {
    const window = [from('02:00', '02:30')];
    expect(until(window, '2026-10-25T00:15')).toBe('2026-10-25T00:30');
    expect(until(window, '2026-10-25T00:45')).toBeNull();
    expect(until(window, '2026-10-25T01:15')).toBe('2026-10-25T01:30');
    expect(blackoutAt(window, BERLIN, utc('2026-10-25T00:45'))).toBeNull();
  });

  it('begins on its days only, and lasts into the next', () => {
    // Fridays; the 19th of June 2026 is one.
    const friday = [from('22:00', '06:00', [5])];
    expect(until(friday, '2026-06-18T21:00')).toBeNull();
    expect(until(friday, '2026-06-19T03:00')).toBeNull();
    expect(until(friday, '2026-06-19T21:00')).toBe('2026-06-20T04:00');
    expect(until(friday, '2026-06-20T03:00')).toBe('2026-06-20T04:00');
    expect(until(friday, '2026-06-20T21:00')).toBeNull();
  });

  it('lasts a whole day where it ends when it begins, and goes on where another takes over', () => {
    expect(until([from('00:00', '00:00', [2])], '2026-06-16T10:00')).toBe('2026-06-16T22:00');
    expect(until([from('22:00', '06:00'), from('05:00', '09:00'), from('09:00', '09:30')], '2026-06-16T21:00')).toBe(
      '2026-06-17T07:30',
    );
  });

  it('knows where it never ends', () => {
    expect(blackoutAt([from('00:00', '00:00')], BERLIN, utc('2026-06-16T10:00'))).toEqual({ label: '', until: null });
    expect(blackoutAt([from('06:00', '18:00'), from('18:00', '06:00')], BERLIN, utc('2026-10-24T10:00'))).toEqual({
      label: '',
      until: null,
    });
  });

  it('lasts once from one wall-clock time to another, across weeks and clock changes', () => {
    const holiday: Blackout = {
      type: 'one_off',
      label: 'away',
      start_time: '2026-10-10T18:00',
      end_time: '2026-11-02T08:30',
    };
    expect(until([holiday], '2026-10-10T15:59')).toBeNull();
    expect(blackoutAt([holiday], BERLIN, utc('2026-10-10T16:00'))).toEqual({
      label: 'away',
      until: utc('2026-11-02T07:30'),
    });
    expect(until([holiday], '2026-11-02T07:29')).toBe('2026-11-02T07:30');
    expect(until([holiday], '2026-11-02T07:30')).toBeNull();
    expect(until([holiday, from('00:00', '09:00')], '2026-10-20T12:00')).toBe('2026-11-02T08:00');
  });

  it('lasts once between two moments with their own zones, whatever the household’s zone is', () => {
    const launch: Blackout = {
      type: 'one_off',
      label: '',
      start_time: '2026-06-16T10:00Z',
      end_time: '2026-06-16T14:00:30+02:00',
    };
    for (const zone of [BERLIN, 'America/New_York', 'Asia/Kolkata']) {
      expect(blackoutAt([launch], zone, utc('2026-06-16T09:59'))).toBeNull();
      expect(blackoutAt([launch], zone, utc('2026-06-16T10:00'))?.until).toBe(utc('2026-06-16T12:00:30'));
      expect(blackoutAt([launch], zone, utc('2026-06-16T12:00:30'))).toBeNull();
    }
  });

  it('follows the wall clock in every zone', () => {
    const clock = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30, 59))
      .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
    const blackout = fc.record({
      label: fc.constant(''),
      start_time: clock,
      end_time: clock,
      days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
    });
    const zones = fc.constantFrom(BERLIN, 'America/Havana', 'Asia/Beirut', 'Australia/Lord_Howe');
    // Around the nights on which these zones change, in 2026.
    const near = fc
      .tuple(
        fc.constantFrom(
          '2026-03-08T06:00',
          '2026-03-29T00:00',
          '2026-04-04T15:00',
          '2026-10-03T15:00',
          '2026-10-25T00:00',
          '2026-11-01T05:00',
        ),
        fc.integer({ min: -1_440, max: 1_440 }),
      )
      .map(([time, minutes]) => utc(time) + minutes * MINUTE);
    const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    /** By going through every minute of every window. */
    const shows = ({ start_time, end_time, days }: RecurringBlackout, zone: string, time: number) => {
      const wall = wallTime(zone, time);
      const length = ((minutesOf(end_time) - minutesOf(start_time) + 1_440 - 1) % 1_440) + 1;
      for (let back = 0; back < length; back++) {
        const begun = wall - back * MINUTE;
        const shown = new Date(begun);
        if (
          shown.getUTCHours() * 60 + shown.getUTCMinutes() === minutesOf(start_time) &&
          (days.length === 0 || days.includes(shown.getUTCDay()))
        )
          return true;
      }
      return false;
    };
    fc.assert(
      fc.property(fc.array(blackout, { minLength: 1, maxLength: 3 }), zones, near, (blackouts, zone, time) => {
        const dark = blackoutAt(blackouts, zone, time);
        expect(dark !== null).toBe(blackouts.some((each) => shows(each, zone, time)));
        if (!dark || dark.until === null) return;
        expect(dark.until > time && dark.until <= time + 9 * DAY_MS).toBe(true);
        expect(blackoutAt(blackouts, zone, dark.until)).toBeNull();
        for (const part of [0.1, 0.5, 0.9])
          expect(blackoutAt(blackouts, zone, Math.floor(time + (dark.until - 1 - time) * part))).not.toBeNull();
      }),
      { numRuns: 200 },
    );
  });
});
