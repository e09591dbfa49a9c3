import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, nextHour, wallTime } from '../../../../src/shared/domain/zone-days.ts';

const HOUR = 3_600_000;
const utc = (text: string) => Date.parse(`${text}Z`);
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'America/St_Johns',
  'Pacific/Kiritimati',
  'Etc/GMT+12',
];
const times = fc.integer({ min: utc('1990-01-01T00:00'), max: utc('2040-01-01T00:00') });
const date = (zone: string, time: number) => new Date(wallTime(zone, time)).toISOString().slice(0, 10);

describe('a calendar day', () => {
  it.each([
    ['23 hours where clocks go forward', 'Europe/Berlin', '2026-03-29T12:00', '2026-03-28T23:00', 23],
    ['25 hours where they go back', 'Europe/Berlin', '2026-10-25T12:00', '2026-10-24T22:00', 25],
    ['24 hours otherwise', 'Europe/Berlin', '2026-06-16T12:00', '2026-06-15T22:00', 24],
    ['23 hours from 01:00 where midnight is left out', 'America/Havana', '2026-03-08T12:00', '2026-03-08T05:00', 23],
    ['25 hours where its first hour comes twice', 'America/Havana', '2026-11-01T12:00', '2026-11-01T04:00', 25],
    ['23 hours where midnight is left out in the east', 'Asia/Beirut', '2026-03-29T12:00', '2026-03-28T22:00', 23],
    ['25 hours where its last hour comes twice', 'Asia/Beirut', '2026-10-24T12:00', '2026-10-23T21:00', 25],
    ['half an hour more', 'Australia/Lord_Howe', '2026-04-05T02:00', '2026-04-04T13:00', 24.5],
    ['half an hour less', 'Australia/Lord_Howe', '2026-10-04T02:00', '2026-10-03T13:30', 23.5],
    ['the date after the one that was left out', 'Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00', 24],
  ])('has %s: %s', (_, zone, within, start, hours) => {
    expect(dayOf(zone, utc(within))).toEqual({ start: utc(start), end: utc(start) + hours * HOUR });
  });

  it('begins at its first ms and is over at its end', () => {
    const { start, end } = dayOf('Europe/Berlin', utc('2026-10-25T00:30'));
    expect(dayOf('Europe/Berlin', start)).toEqual({ start, end });
    expect(dayOf('Europe/Berlin', end - 1)).toEqual({ start, end });
    expect(dayOf('Europe/Berlin', start - 1).end).toBe(start);
    expect(dayOf('Europe/Berlin', end).start).toBe(end);
  });

  it('holds its time, follows the day before without a gap, and is one date', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), times, (zone, time) => {
        const { start, end } = dayOf(zone, time);
        expect(start <= time && time < end).toBe(true);
        expect(dayOf(zone, start - 1).end).toBe(start);
        expect(end - start >= 22 * HOUR && end - start <= 26 * HOUR).toBe(true);
        // Newfoundland once turned its clocks back at one minute past midnight: there the last of a
        // day is dated after.
        if (zone !== 'America/St_Johns')
          expect([date(zone, start), date(zone, end - 1)]).toEqual([date(zone, time), date(zone, time)]);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses a zone that is none', () => {
    expect(() => dayOf('Nowhere/At_All', 0)).toThrow(RangeError);
  });
});

it('the next time the clocks show an hour is today or tomorrow, also where they were changed in the night', () => {
  const at = (text: string) => Date.parse(text);
  expect(nextHour('Europe/Berlin', 8, at('2026-11-21T06:59:59Z'))).toBe(at('2026-11-21T07:00:00Z'));
  expect(nextHour('Europe/Berlin', 8, at('2026-11-21T07:00:00Z'))).toBe(at('2026-11-22T07:00:00Z'));
  // Clocks go back at one and forward at one, UTC.
  expect(nextHour('Europe/Berlin', 8, at('2026-10-24T20:00:00Z'))).toBe(at('2026-10-25T07:00:00Z'));
  expect(nextHour('Europe/Berlin', 8, at('2026-03-28T20:00:00Z'))).toBe(at('2026-03-29T06:00:00Z'));
  expect(nextHour('Pacific/Auckland', 8, at('2026-11-21T18:30:00Z'))).toBe(at('2026-11-21T19:00:00Z'));
});
