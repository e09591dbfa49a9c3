import { expect, test } from 'vitest';
import { bytes, names, plural } from '../../../../../src/page/ui/text/sizes.ts';
import { quoted, withParagraph } from '../../../../../src/page/ui/text/answering.ts';
import { ago, dayName, dayWithin, duration, shortDuration } from '../../../../../src/page/ui/text/time.ts';
import { readVariables } from '../../../../../src/page/ui/text/kinds.ts';
import { routeOf } from '../../../../../src/page/ui/routes.ts';
import { briefly } from '../../../../../src/page/ui/text/reasons.ts';

const now = new Date('2026-11-21T08:55:00').getTime();
const on = (text: string) => new Date(text).getTime();

test('days are named as people name them', () => {
  expect(dayName(on('2026-11-21T00:01:00'), now)).toBe('Today');
  expect(dayName(on('2026-11-20T23:59:00'), now)).toBe('Yesterday');
  expect(dayName(on('2026-11-17T12:00:00'), now)).toBe('Tuesday');
  expect(dayName(on('2026-11-06T12:00:00'), now)).toBe('Friday 6 November');
  expect(dayName(on('2024-11-06T12:00:00'), now)).toBe('6 November 2024');
  expect(dayWithin(on('2026-11-20T23:59:00'), now)).toBe('yesterday');
});

test('durations are rounded to what matters', () => {
  expect([1000, 61_000, 720_000, 3_600_000 * 9, 86_400_000 * 3].map(duration)).toEqual([
    'a moment',
    '1 minute',
    '12 minutes',
    '9 hours',
    '3 days',
  ]);
  expect([-5_000, 1000, 60_000, 720_000, 3_600_000 * 9, 86_400_000 * 3].map(shortDuration)).toEqual([
    '0 min',
    '0 min',
    '1 min',
    '12 min',
    '9 h',
    '3 d',
  ]);
});

test('sizes and lists read well', () => {
  expect([512, 21_000, 1_400_000, 2_300_000_000].map(bytes)).toEqual(['512 B', '21 KB', '1.4 MB', '2.3 GB']);
  expect([names([]), names(['A']), names(['A', 'B']), names(['A', 'B', 'C'])]).toEqual([
    '',
    'A',
    'A and B',
    'A, B and C',
  ]);
  expect([plural(1, 'agent'), plural(1200, 'agent')]).toEqual(['1 agent', '1,200 agents']);
  expect(briefly('It said nothing for 120 s.')).toBe('said nothing for 120\u00a0s');
});

test('every address is a place, and a strange one is the hearth', () => {
  expect(routeOf('/lead')).toEqual({ kind: 'agent', agentId: 'lead', over: null, at: null });
  const about = { kind: 'portrait', agentId: 'a b', tab: 'about', day: null };
  expect(routeOf('/agent/a%20b/about')).toEqual(about);
  // Bookmarks of earlier versions.
  expect(routeOf('/agent/a%20b/soul')).toEqual(about);
  expect(routeOf('/agent/a%20b/deeds')).toEqual({ ...about, tab: 'activity' });
  expect(routeOf('/lead/conversations/2026-11-20')).toEqual({
    kind: 'portrait',
    agentId: 'lead',
    tab: 'conversations',
    day: '2026-11-20',
  });
  expect(routeOf('/agent/%')).toEqual({ kind: 'agent', agentId: '%', over: null, at: null });
  expect(routeOf('/agent/')).toEqual({ kind: 'hearth' });
  expect(routeOf('/agent/a%20b/at/m%2F1')).toEqual({ kind: 'agent', agentId: 'a b', over: null, at: 'm/1' });
  expect(routeOf('/threads/t1/at/m1')).toMatchObject({ kind: 'threads', threadId: 't1', at: 'm1' });
  expect(routeOf('/lead/change')).toEqual({ kind: 'agent', agentId: 'lead', over: 'change', at: null });
  expect(routeOf('/settings')).toEqual({ kind: 'settings', section: null, agentId: null });
  expect(routeOf('/lead/inbox')).toEqual({ kind: 'agent', agentId: 'lead', over: 'inbox', at: null });
  expect(routeOf('/settings/data/storage')).toEqual({ kind: 'settings', section: 'storage', agentId: null });
  expect(routeOf('/settings/agents/a%20b')).toEqual({ kind: 'settings', section: 'limits', agentId: 'a b' });
  expect(routeOf('/settings/advanced/of/a')).toEqual({ kind: 'settings', section: 'advanced', agentId: 'a' });
  expect(routeOf('/settings/limits/a%20b')).toEqual({ kind: 'settings', section: 'limits', agentId: 'a b' });
  expect(routeOf('/activity/wakes')).toEqual({ kind: 'activity', tab: 'wakes', agentId: null });
  expect(routeOf('/activity/wakes/lead')).toEqual({ kind: 'activity', tab: 'wakes', agentId: 'lead' });
  expect(routeOf('/wake-preview').kind).toBe('preview');
  expect(routeOf('/wake-some').kind).toBe('wake-some');
  expect(routeOf('/morning')).toEqual({ kind: 'morning' });
  expect(routeOf('/nonsense')).toEqual({ kind: 'hearth' });
});

test('reads one variable per line, and names an invalid line by number, because it may hold a secret', () => {
  expect(readVariables('A=1\n\n  B_2 = x=y \nC=')).toEqual({ ok: true, env: { A: '1', B_2: 'x=y', C: '' } });
  for (const [text, line] of [
    ['A=1\nsk-secret', 2],
    ['=sk-secret', 1],
    ['2A=sk-secret', 1],
    ['A=1\nB C=sk-secret', 2],
    ['A=1\nA=sk-secret', 2],
  ] as const) {
    const read = readVariables(text);
    expect(read.ok ? '' : read.reason).toContain(`Line ${line} `);
    expect(read.ok ? '' : read.reason).not.toContain('secret');
  }
});

test('how long ago: nothing comes from the future, and after an hour it is the time of day', () => {
  expect([-5, 0, 0.9, 1, 59.9].map((minutes) => ago(now - minutes * 60_000, now))).toEqual([
    'just now',
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
  ]);
  expect(ago(now - 60 * 60_000, now)).toBe('07:55');
});

test('cuts a long quotation between characters, in a paragraph of its own', () => {
  expect(quoted('  One\n\ntwo\r\nthree ')).toBe('> One\n>\n> two\n> three\n\n');
  expect(quoted(`${'a'.repeat(1_999)}😀😀`)).toBe(`> ${'a'.repeat(1_999)}…\n\n`);
  expect(['', 'So', 'So\n', 'So\n\n'].map((before) => withParagraph(before, '> x'))).toEqual([
    '> x',
    'So\n\n> x',
    'So\n\n> x',
    'So\n\n> x',
  ]);
});
