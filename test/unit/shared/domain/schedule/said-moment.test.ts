import { describe, expect, it } from 'vitest';
import { parseMoment } from '../../../../../src/shared/domain/schedule/timing.ts';

describe('a moment as it is said', () => {
  const NOW = Date.UTC(2026, 10, 23, 7, 5);
  const at = (text: string, zone = 'Europe/Berlin', now = NOW) => {
    const moment = parseMoment(text, zone, now);
    return moment === null ? null : new Date(moment).toISOString().slice(0, 16);
  };
  it('reads a moment on the person’s own clock and day', () => {
    expect(at('today 09:00')).toBe('2026-11-23T08:00');
    expect(at('tomorrow at 9:00')).toBe('2026-11-24T08:00');
    expect(at('Friday 09:00')).toBe('2026-11-27T08:00');
    expect(at('the day after tomorrow, at 09:00')).toBe('2026-11-25T08:00');
    // It is Sunday there still, and in the other place Tuesday already.
    expect(at('monday 09:00', 'America/Los_Angeles')).toBe('2026-11-23T17:00');
    expect(at('today 09:00', 'America/Los_Angeles', Date.UTC(2026, 10, 23, 5))).toBe('2026-11-22T17:00');
    expect(at('tuesday 09:00', 'Pacific/Kiritimati', Date.UTC(2026, 10, 23, 12))).toBe('2026-11-23T19:00');
    expect(at('2026-12-24T09:00')).toBe('2026-12-24T08:00');
    expect(at('2026-12-24T09:00Z')).toBe('2026-12-24T09:00');
  });
  it('reads a past time of today as past, and a weekday as its next occurrence', () => {
    expect(at('today 07:00')).toBe('2026-11-23T06:00');
    expect(at('monday 08:05')).toBe('2026-11-30T07:05');
    expect(at('monday 08:06')).toBe('2026-11-23T07:06');
    expect(at('next monday 08:06')).toBe('2026-11-30T07:06');
    expect(at('weekday 08:00')).toBe('2026-11-24T07:00');
    expect(at('weekday 08:00', 'Europe/Berlin', Date.UTC(2026, 10, 27, 12))).toBe('2026-11-30T07:00');
  });
  it.each(['friday', 'friday 24:00', 'today 9', 'yesterday 09:00', 'frida 09:00', '9:00', '2026-02-30T09:00'])(
    'refuses %s',
    (text) => expect(at(text)).toBeNull(),
  );
});
