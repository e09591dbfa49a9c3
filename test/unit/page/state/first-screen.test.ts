import { expect, test } from 'vitest';
import { rosterOf } from '../../../../src/shared/domain/agent.ts';
import type { SyncStatus } from '../../../../src/shared/protocol/sync/page.ts';
import { awaitedOf, firstScreenOf } from '../../../../src/page/state/last-team.ts';

const empty = rosterOf([], []);
const returning: SyncStatus = {
  kind: 'returning',
  joining: null,
  team: { human: null, lead: 'Julian', agents: 8, documents: 9 },
  link: 'lost',
  progress: null,
  arriving: [],
  missing: false,
};
const none = { begun: false, lived: false, others: 0 };
const alone: SyncStatus = { kind: 'alone', joining: null, kept: null };

test('takes nobody for new before it is known whether agents live here', () => {
  const household = { status: 'ready', roster: empty } as const;
  expect(
    firstScreenOf({ household: { ...household, status: 'loading' }, sync: null, syncFailed: null, home: none }),
  ).toBe('opening');
  expect(firstScreenOf({ household, sync: null, syncFailed: null, home: none })).toBe('opening');
  expect(firstScreenOf({ household, sync: returning, syncFailed: null, home: none })).toBe('returning');
  expect(firstScreenOf({ household, sync: { ...returning, missing: true }, syncFailed: null, home: none })).toBe(
    'returning',
  );
  expect(firstScreenOf({ household, sync: alone, syncFailed: null, home: none })).toBe('welcome');
  expect(
    firstScreenOf({ household: { ...household, status: 'failed' }, sync: null, syncFailed: null, home: none }),
  ).toBe('home');
});

test('asks a new person whether to join when others live at the relay', () => {
  const [household, others] = [{ status: 'ready', roster: empty } as const, { begun: false, lived: false, others: 1 }];
  const screen = (sync: SyncStatus, home: typeof others | 'asking' | 'unreachable') =>
    firstScreenOf({ household, sync, syncFailed: null, home });
  expect(screen(alone, 'asking')).toBe('opening');
  expect(screen(alone, others)).toBe('asked');
  expect(screen(alone, { ...others, begun: true })).toBe('welcome');
  expect(screen(alone, { ...others, begun: true, lived: true, others: 0 })).toBe('asked');
  expect(screen(alone, 'unreachable')).toBe('welcome');
  expect(screen(returning, others)).toBe('returning');
});

test('names what the opening page waits for: ledger, devices or relay', () => {
  const household = { status: 'ready', roster: empty } as const;
  const known = { household, sync: alone, syncFailed: null, home: none };
  expect(awaitedOf({ ...known, household: { ...household, status: 'loading' } })).toBe('ledger');
  expect(awaitedOf({ ...known, sync: null })).toBe('devices');
  expect(awaitedOf({ ...known, home: 'asking' })).toBe('relay');
  expect(awaitedOf(known)).toBeNull();
});
