/** What a person reads of times, on ordinary days and in the nights when clocks change. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  draftOf,
  emptyDraft,
  nextOf,
  routineOf,
  STANDS_AT,
  wrongAt,
  wrongIn,
} from '../../../../../src/page/ui/schedule/drafts.ts';
import { marksOf, moveText, ticksOf } from '../../../../../src/page/ui/schedule/timeline.tsx';
import { activityOf } from '../../../../../src/page/ui/schedule/activity-list.tsx';
import { momentText, outcomeText, spentText, timingText } from '../../../../../src/page/ui/schedule/words.ts';
import { slotsBetween, type Timing } from '../../../../../src/shared/domain/schedule/timing.ts';
import { createCronClock } from '../../../../../src/shared/protocol/timing-arguments.ts';
import type { Occurrence } from '../../../../../src/shared/protocol/schedules.ts';
import { routine } from '../../../../support/schedules.ts';
import { occurrence, timeline } from '../../support/schedules.ts';

const at = (text: string) => Date.parse(text);
const HOUR = 3_600_000;
const household = { zone: 'Europe/Berlin', offset: 0 };
const iso = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(0, 16));
const weekly = (time: string, days: readonly number[] = []) => ({
  ...emptyDraft('a'),
  name: 'n',
  instructions: 'i',
  time,
  days,
});

// Where the reader is: the words are in their own time.
const { TZ } = process.env;
beforeAll(() => {
  process.env.TZ = 'Europe/Berlin';
});
afterAll(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

describe('the next moments that the editor names', () => {
  it('follows the relay’s clock, also in the nights when clocks change', () => {
    for (const [time, now] of [
      ['02:30', '2026-03-28T12:00Z'],
      ['02:30', '2026-10-24T12:00Z'],
      ['07:30', '2026-03-28T12:00Z'],
    ] as const) {
      const timing: Timing = { kind: 'weekly', days: [], time, zone: null };
      expect(nextOf(weekly(time), null, household, at(now), 3)).toEqual(
        slotsBetween(timing, at(now), Infinity, { ...household, cron: createCronClock() }, 3),
      );
    }
    expect(iso(nextOf(weekly('07:30'), null, household, at('2026-03-28T12:00Z'), 2))).toEqual([
      '2026-03-29T05:30',
      '2026-03-30T05:30',
    ]);
    expect(iso(nextOf(weekly('07:30'), null, household, at('2026-10-24T12:00Z'), 2))).toEqual([
      '2026-10-25T06:30',
      '2026-10-26T06:30',
    ]);
  });

  it('names no moments while they are unknown', () => {
    const draft = { ...emptyDraft('a'), name: 'n', instructions: 'i' };
    expect(nextOf({ ...draft, timing: 'cron', cron: '61 * * * *' }, null, household, 0, 3)).toEqual([]);
    expect(nextOf({ ...draft, timing: 'cron', cron: '0 0 31 2 *' }, null, household, 0, 3)).toEqual([]);
    expect(
      nextOf({ ...draft, timing: 'once', at: '2020-01-01T00:00' }, null, household, at('2026-01-01T00:00Z'), 3),
    ).toEqual([]);
    expect(nextOf({ ...draft, timing: 'every', minutes: 'often' }, null, household, 0, 3)).toEqual([]);
    expect(wrongIn({ ...draft, timing: 'cron', cron: '0 0 31 2 *' })).toEqual({ cron: 'Is never due.' });
    expect(wrongIn({ ...draft, timing: 'every', offset: '1.5' })).toHaveProperty('offset');
    expect(wrongIn({ ...draft, most: '0' })).toHaveProperty('most');
  });
});

describe('a routine in its editor', () => {
  it('comes out as it went in, whatever its timing', () => {
    const timings: readonly Timing[] = [
      { kind: 'every', minutes: 45, offset: 7 },
      { kind: 'every', minutes: 45, offset: null },
      { kind: 'weekly', days: [1, 3], time: '23:59', zone: 'Asia/Tokyo' },
      { kind: 'cron', cron: '*/5 9-17 * * 1-5', zone: 'America/New_York' },
      { kind: 'once', at: at('2026-10-25T00:30:12Z') },
    ];
    for (const timing of timings) {
      const first = routine({
        timing: timing.kind === 'weekly' ? { ...timing, days: [...timing.days] } : timing,
        color: '#a1b2c3',
      });
      expect(routineOf(draftOf(first), first)).toEqual(first);
    }
  });

  it('shows what the relay found wrong at the field that it is of', () => {
    const fields = { 'timing.cron': 'a', timeoutMs: 'b', 'timing.days.0': 'c', moon: 'd' };
    const own = Object.keys(emptyDraft(''));
    expect(wrongAt(fields, { timing: 'cron' }, own, STANDS_AT)).toEqual({
      at: { cron: 'a', most: 'b', days: 'c' },
      rest: ['moon: d'],
    });
    expect(wrongAt({ timing: 'x', 'timing.offset': 'y' }, { timing: 'every' }, own, STANDS_AT).at).toEqual({
      minutes: 'x',
      offset: 'y',
    });
  });
});

describe('what the timeline draws', () => {
  it('has a tick at each full hour of the reader’s clock, also with an hour more or less', () => {
    const hours = (from: string) =>
      ticksOf({ from: at(from), to: at(from) + 6 * HOUR }).map(({ time }) => new Date(time).getHours());
    expect(hours('2026-03-28T23:00Z')).toEqual([0, 1, 3, 4, 5, 6, 7]);
    expect(hours('2026-10-24T22:00Z')).toEqual([0, 1, 2, 2, 3, 4, 5]);
  });

  it('shows the gravest of several marks at one place, and keeps the colour of coming ones', () => {
    const now = at('2026-11-22T09:00Z');
    const line = timeline({
      from: now,
      to: now + 24 * HOUR,
      occurrences: [
        occurrence(0, { dueAt: now + HOUR }),
        occurrence(0, { dueAt: now + HOUR + 1_000, state: 'failed' }),
      ],
      moments: [
        { scheduleId: 's', agentId: 'agent-1', at: now + 12 * HOUR, dark: null },
        { scheduleId: 't', agentId: 'agent-1', at: now + 18 * HOUR, dark: 'Night' },
        { scheduleId: 's', agentId: 'agent-2', at: now + 20 * HOUR, dark: null },
      ],
    });
    expect(marksOf(line, 'agent-1', new Map([['s', '#112233']])).map(({ kind, color }) => [kind, color])).toEqual([
      ['bad', null],
      ['to-come', '#112233'],
      ['dark', null],
    ]);
  });
});

describe('times in words', () => {
  const now = at('2026-10-24T18:00Z');
  it('count days by the calendar, not by hours, over the night that has 25 of them', () => {
    const day = (time: string, from: number) => momentText(at(time), from).split(' ')[0];
    expect(day('2026-10-24T22:30Z', now)).toBe('tomorrow');
    expect(day('2026-10-25T22:59Z', now)).toBe('tomorrow');
    expect(day('2026-10-25T23:30Z', now)).not.toBe('tomorrow');
    expect(day('2026-03-29T21:30Z', at('2026-03-28T18:00Z'))).toBe('tomorrow');
  });

  it('say what moves and where to', () => {
    const every: Timing = { kind: 'every', minutes: 60, offset: null };
    expect(moveText({ id: 's', before: every, after: { ...every, offset: 3 }, minutes: 3 }, now)).toBe(
      'every hour, 3 minutes later',
    );
    expect(timingText({ kind: 'weekly', days: [0, 6], time: '09:00', zone: null }, now)).toBe('at weekends at 09:00');
  });
});

describe('what a run cost', () => {
  const told = occurrence(1);
  const cut = occurrence(2, { state: 'timed-out', estimated: true });

  it('marks a cost that the model did not report in full', () => {
    expect(spentText(told)).toBe('14 s · 1.2K tokens · $0.0123');
    expect(spentText(cut)).toBe('14 s · ≈ 1.2K tokens · ≈ $0.0123');
  });

  it('marks a sum with such a cost', () => {
    const sums = (all: readonly Occurrence[]) =>
      activityOf(all, 0, Infinity).map(({ costMicroUsd, estimated }) => [costMicroUsd, estimated]);
    expect(sums([told, told])).toEqual([[24_600, false]]);
    expect(sums([told, cut])).toEqual([[24_600, true]]);
  });
});

test('counts a reminder and the run that it caused as one, with the outcome', () => {
  const came = (n: number) => occurrence(n, { kind: 'reminder', runId: null, said: null, costMicroUsd: null });
  const followed = occurrence(1, { kind: 'reminder' });
  const two = [came(2)];
  for (const newestFirst of [
    [followed, came(1), ...two],
    [came(1), followed, ...two],
  ])
    expect(activityOf(newestFirst, 0, Infinity)).toMatchObject([{ done: 2, lastDone: followed, costMicroUsd: 12_300 }]);
});

test('names the person for a stop only when no other reason is known', () => {
  const stopped = occurrence(1, { state: 'stopped' });
  expect(outcomeText(stopped)).toBe('stopped by you');
  expect(outcomeText({ ...stopped, detail: 'The relay stopped it after 3 s: the relay was ended.' })).toBe('stopped');
});

test.each([
  ['30 7 * * 1-5', 'every weekday at 07:30'],
  ['5 23 * * *', 'every day at 23:05'],
  ['0 9 * * 6,7', 'at weekends at 09:00'],
  ['*/5 9-17 * * 1-5', 'by the cron text “*/5 9-17 * * 1-5”'],
  ['0 9 1 * *', 'by the cron text “0 9 1 * *”'],
])('the cron text %s reads as %s', (cron, text) => {
  expect(timingText({ kind: 'cron', cron, zone: null }, 0)).toBe(text);
});
