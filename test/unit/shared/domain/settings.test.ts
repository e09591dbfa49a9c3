import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_SETTINGS,
  isSettingValue,
  SETTING_BOUNDS,
  SETTING_TEXT_MAX,
  settingsOf,
  type SettingRecord,
} from '../../../../src/shared/domain/settings.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import { shuffledAndRepeated } from './arbitraries.ts';

const record = (key: string, value: unknown, time = 1, id = `${key}-${time}`): SettingRecord => ({
  id,
  key,
  value,
  at: formatStamp({ time, counter: 0, node: 'n' }),
});

describe('the settings', () => {
  it('returns the defaults when nothing was set', () => {
    expect(settingsOf([])).toEqual(DEFAULT_SETTINGS);
    expect(DEFAULT_SETTINGS).toMatchObject({
      leadName: 'Julian',
      transcriptCap: 24_000,
      wakeTimeoutMs: 120_000,
      birthTimeoutMs: 600_000,
      idleMs: 1_800_000,
    });
  });

  it('has a valid default for every setting', () => {
    for (const [key, value] of Object.entries(DEFAULT_SETTINGS)) expect(isSettingValue(key, value), key).toBe(true);
    expect([...Object.keys(SETTING_BOUNDS), ...Object.keys(SETTING_TEXT_MAX)].sort()).toEqual(
      Object.keys(DEFAULT_SETTINGS).sort(),
    );
  });

  it('the newest of each key holds, and of two at the same time the one with the greater id', () => {
    expect(settingsOf([record('leadName', 'New', 9), record('leadName', 'Old', 5)]).leadName).toBe('New');
    expect(settingsOf([record('leadName', 'B', 5, 'b'), record('leadName', 'A', 5, 'a')]).leadName).toBe('B');
  });

  it('returns the same settings for any order and repetition of the records', () => {
    const key = fc.constantFrom('leadName', 'humanName', 'transcriptCap', 'unknown', 'toString', '__proto__');
    const value = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer({ min: -5, max: 30_000 }),
      fc.constant(null),
      fc.constant({}),
    );
    const records = fc
      .array(fc.tuple(key, value, fc.integer({ min: 0, max: 3 })), { maxLength: 10 })
      .map((list) => list.map(([k, v, time], i) => record(k, v, time, `id-${i}`)));
    fc.assert(
      fc.property(
        records.chain((list) => fc.tuple(fc.constant(list), shuffledAndRepeated(list))),
        ([one, other]) => {
          expect(settingsOf(other)).toEqual(settingsOf(one));
          expect(Object.keys(settingsOf(one)).sort()).toEqual(Object.keys(DEFAULT_SETTINGS).sort());
        },
      ),
    );
  });

  it('a bad value is passed over, and the newest good one holds', () => {
    const records = [
      record('idleMs', 70_000, 1),
      record('idleMs', 5, 2),
      record('idleMs', 'soon', 3),
      record('idleMs', 70_000.5, 4),
    ];
    expect(settingsOf(records).idleMs).toBe(70_000);
  });

  it('an unknown key, or one that every object inherits, is passed over', () => {
    for (const key of ['fontSize', 'toString', 'constructor', '__proto__', 'hasOwnProperty'])
      for (const value of ['x', 1, {}, null]) expect(isSettingValue(key, value), key).toBe(false);
    expect(settingsOf([record('fontSize', 12), record('__proto__', 'x')])).toEqual(DEFAULT_SETTINGS);
  });

  it.each(Object.entries(SETTING_BOUNDS))('%s keeps within its bounds', (key, { min, max }) => {
    expect([min - 1, min, max, max + 1].map((value) => isSettingValue(key, value))).toEqual([false, true, true, false]);
    expect(isSettingValue(key, String(min))).toBe(false);
    expect(isSettingValue(key, Number.NaN)).toBe(false);
  });

  it.each(Object.entries(SETTING_TEXT_MAX))('%s keeps within its length', (key, max) => {
    expect(['', 'x'.repeat(max), 'x'.repeat(max + 1)].map((value) => isSettingValue(key, value))).toEqual([
      true,
      true,
      false,
    ]);
    expect(isSettingValue(key, 5)).toBe(false);
  });
});
