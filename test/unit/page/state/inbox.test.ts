import { expect, test } from 'vitest';
import { inboxOf, type InboxSources, waitingKind, type WaitingTask } from '../../../../src/page/state/inbox.ts';
import { waitsText } from '../../../../src/page/ui/inbox/words.ts';
import { cardOf } from '../../../../src/shared/protocol/projects.ts';
import { NOW } from '../support/household.ts';
import { occurrence, SCHEDULED } from '../support/schedules.ts';
import { WAITING_CALL } from '../support/reach.ts';
import { project, task } from '../support/projects.ts';

const NOTHING: InboxSources = {
  ...{ calls: [], tasks: [], runs: [], schedules: [], proposals: [], dreams: [], exams: [], stopped: [] },
  ...{ counts: new Map(), threads: [], notifications: [], readTo: 0 },
};
const kindsOf = (sources: Partial<InboxSources>) => inboxOf({ ...NOTHING, ...sources }).waits.map(({ kind }) => kind);

test('counts a question and a review, and no unread message', () => {
  const review: WaitingTask = { kind: 'review', project: project(), card: cardOf(task(1, 'Greet', 'review')) };
  const { waits, unread } = inboxOf({
    ...NOTHING,
    calls: [WAITING_CALL, { ...WAITING_CALL, callId: 'other' }],
    tasks: [review],
    // The agent that asks has also answered.
    counts: new Map([[WAITING_CALL.agentId, 3]]),
  });
  expect(waitsText(waits)).toBe('2 questions · 1 review');
  expect(waits).toHaveLength(3);
  expect(unread).toMatchObject([{ kind: 'agent', count: 3 }]);
});

test('counts only threads that mention the person', () => {
  const thread = (threadId: string) => ({
    ...{ threadId, title: threadId, participants: [], createdBy: 'human', createdAt: NOW },
    ...{ messages: 9, lastTime: NOW, closed: null },
  });
  const { unread, waits } = inboxOf({
    ...NOTHING,
    threads: [thread('echo'), thread('a b')] as unknown as InboxSources['threads'],
    notifications: [
      { kind: 'mention', path: '/threads/a%20b/at/m1' },
      { kind: 'mention', path: '/agent/agent-1/at/m2' },
      { kind: 'answer', path: '/threads/echo/at/m3' },
      { kind: 'mention', path: '/threads/%E0/at/m4' },
    ],
  });
  expect(waits).toEqual([]);
  expect(unread.map(({ key, count }) => [key, count])).toEqual([['thread a b', 1]]);
});

test('counts a routine that failed once, until it succeeds, is continued or is put away', () => {
  const failed = (n: number, more: object = {}) =>
    occurrence(n, { scheduleId: 's1', state: 'failed', endedAt: NOW - n * 1_000, runId: `run-${n}`, ...more });
  expect(kindsOf({ runs: [failed(1), failed(2)] })).toEqual(['failed']);
  expect(kindsOf({ runs: [failed(1, { state: 'done' }), failed(2)] })).toEqual([]);
  expect(kindsOf({ runs: [failed(1, { continuedBy: 'run-9' })] })).toEqual([]);
  expect(kindsOf({ runs: [failed(1)], readTo: NOW })).toEqual([]);
  // A run under way has not replaced it yet.
  expect(kindsOf({ runs: [failed(1, { state: 'running', endedAt: null }), failed(2)] })).toEqual(['failed']);
  // Wakes of one agent share a schedule id, and have another cause.
  expect(
    kindsOf({ runs: [failed(1, { kind: 'wake', name: 'Wren' }), failed(2, { kind: 'wake', name: 'Sable' })] }),
  ).toEqual(['failed', 'failed']);
});

test('counts a paused routine once, and not its failed run as well', () => {
  const [first] = SCHEDULED;
  if (!first) throw new Error('There is no schedule.');
  const paused = { ...first, pausedWhy: 'It failed three times.', elsewhere: null };
  const run = occurrence(1, { scheduleId: paused.scheduleId, state: 'failed', endedAt: NOW, runId: 'run-1' });
  expect(kindsOf({ schedules: [paused], runs: [run] })).toEqual(['paused']);
});

test('counts the budget of the household once, whoever is stopped by it', () => {
  const stop = (scope: 'household' | 'agent', agentId: string | null) => ({ scope, agentId, message: '', until: NOW });
  expect(kindsOf({ stopped: [stop('agent', 'agent-1'), stop('household', null)] })).toEqual(['budget']);
  expect(kindsOf({ stopped: [stop('agent', 'agent-1'), stop('agent', 'agent-2')] })).toEqual(['budget', 'budget']);
});

test('lists a task by its state: not one in review that an agent has claimed, nor one that is merged', () => {
  const kindIn = (columnId: string, more: object = {}) => {
    const card = cardOf(task(1, 'Greet', columnId, more));
    return waitingKind(project(), card, [card]);
  };
  expect(['review', 'blocked', 'ready', 'done'].map((columnId) => kindIn(columnId))).toEqual([
    ...['review', 'blocked', null, null],
  ]);
  expect(kindIn('review', { claim: { agentId: 'agent-1', since: NOW } })).toBeNull();
});
