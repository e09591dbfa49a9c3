import { expect, test } from 'vitest';
import { rosterOf } from '../../../src/domain/agent.ts';
import type { SyncStatus } from '../../../src/protocol/sync/page.ts';
import { firstScreenOf } from '../../../src/state/first-screen.ts';

const empty = rosterOf([], []);
const returning: SyncStatus = { kind: 'returning', joining: null, team: { human: null, lead: 'Julian', agents: 8, documents: 9 }, link: 'lost', progress: null, arriving: [], missing: false };
const alone: SyncStatus = { kind: 'alone', joining: null, kept: null };

test('nobody is taken for new before it is known whether somebody lived here', () => {
  const household = { status: 'ready', roster: empty } as const;
  expect(firstScreenOf({ household: { ...household, status: 'loading' }, sync: null, syncFailed: null })).toBe('opening');
  expect(firstScreenOf({ household, sync: null, syncFailed: null })).toBe('opening');
  expect(firstScreenOf({ household, sync: returning, syncFailed: null })).toBe('returning');
  expect(firstScreenOf({ household, sync: { ...returning, missing: true }, syncFailed: null })).toBe('returning');
  expect(firstScreenOf({ household, sync: alone, syncFailed: null })).toBe('welcome');
  expect(firstScreenOf({ household: { ...household, status: 'failed' }, sync: null, syncFailed: null })).toBe('home');
});
