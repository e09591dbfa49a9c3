import { expect, test } from 'vitest';
import type { RoostEvent } from '../../../../src/shared/protocol/events.ts';
import { createAnswers, openAnswerOf } from '../../../../src/page/state/answers.ts';
import type { LinkState } from '../../../../src/shared/protocol/worker.ts';
import { asleepReason, callProgress, createLive } from '../../../../src/page/state/live.ts';
import { NOW, runningSession } from '../support/household.ts';

const seats = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ agentId: `a${i}`, position: i, name: null }));
const here = { time: NOW, sessionId: 'session-2' };

function opened() {
  const live = createLive();
  live.hearLink({ kind: 'live' }, runningSession());
  let id = 100;
  return { live, hear: (event: RoostEvent) => live.hearEvent({ id: ++id, event }), now: () => live.store.getState() };
}

test('shows agents awake only on a live connection', () => {
  const { live, hear, now } = opened();
  hear({ kind: 'agent-awake', ...here, agentId: 'a0', position: 0 });
  expect(now().live?.awake).toEqual(new Set(['a0']));
  live.hearLink({ kind: 'lost', reason: 'silent' }, null);
  expect(now().live).toBeNull();
  live.hearLink({ kind: 'live' }, null);
  expect(now().live?.awake).toEqual(new Set(['a0']));
});

test('says when the relay was last heard, and shows nobody writing, without the relay', () => {
  let now = NOW;
  const live = createLive(() => now);
  const answers = createAnswers();
  const hearLink = (link: LinkState) => {
    live.hearLink(link, null);
    answers.hearLink(link);
  };
  hearLink({ kind: 'connecting' });
  expect(live.store.getState().heardUntil).toBeNull();
  hearLink({ kind: 'live' });
  answers.load([{ messageId: 'm', agentId: 'a0', startedAt: NOW, blocks: [] }]);
  expect(openAnswerOf(answers.store.getState(), 'a0')?.messageId).toBe('m');
  now += 60_000;
  hearLink({ kind: 'lost', reason: 'unreachable' });
  now += 60_000;
  hearLink({ kind: 'connecting' });
  hearLink({ kind: 'lost', reason: 'silent' });
  expect(live.store.getState().heardUntil).toBe(NOW + 60_000);
  expect(openAnswerOf(answers.store.getState(), 'a0')).toBeUndefined();
  // Its words stay.
  expect(answers.store.getState().open.size).toBe(1);
  hearLink({ kind: 'live' });
  expect(live.store.getState().heardUntil).toBeNull();
  expect(openAnswerOf(answers.store.getState(), 'a0')?.messageId).toBe('m');
});

test('words that stream change nothing that the grid watches', () => {
  const { live, hear, now } = opened();
  hear({ kind: 'answer-started', time: NOW, messageId: 'm', agentId: 'a0', sessionId: 'session-2' });
  const before = now();
  let calls = 0;
  live.store.subscribe(() => calls++);
  for (let i = 0; i < 50; i++) hear({ kind: 'text', messageId: 'm', text: 'x' });
  expect(calls).toBe(0);
  expect(now()).toBe(before);
});

test('progress counts who is decided, of all who were called', () => {
  const { hear, now } = opened();
  expect(callProgress(now())).toBeNull();
  hear({ kind: 'call-started', ...here, callId: 'w', call: 'wake', seats: seats(8) });
  for (let i = 0; i < 5; i++) hear({ kind: 'agent-awake', ...here, agentId: `a${i}`, position: i });
  expect(callProgress(now())).toEqual({ call: 'wake', done: 5, total: 8, left: 3 });
  hear({ kind: 'call-ended', ...here, callId: 'w', error: null });
  expect(callProgress(now())).toBeNull();
});

test('a page that came in the middle of a call says how many are left', () => {
  const live = createLive();
  live.hearLink(
    { kind: 'live' },
    runningSession({ hatching: [{ agentId: 'a', position: 0, call: 'summon', callId: 'w', name: null }] }),
  );
  expect(callProgress(live.store.getState())).toEqual({ call: 'summon', done: 0, total: null, left: 1 });
});

test('an event that was heard before is passed over', () => {
  const { live, hear, now } = opened();
  hear({ kind: 'agent-awake', ...here, agentId: 'a0', position: 0 });
  const before = now();
  live.hearEvent({
    id: 101,
    event: { kind: 'agent-asleep', ...here, agentId: 'a0', position: 0, reason: { code: 'failed', message: 'x' } },
  });
  expect(now()).toBe(before);
});

test('a reason is forgotten when the agent is called again, and with its session', () => {
  const { hear, now } = opened();
  hear({ kind: 'agent-asleep', ...here, agentId: 'a0', position: 0, reason: { code: 'failed', message: 'no' } });
  expect(asleepReason(now(), 'a0')?.message).toBe('no');
  hear({ kind: 'call-started', ...here, callId: 'w', call: 'wake', seats: seats(1) });
  expect(asleepReason(now(), 'a0')).toBeNull();
  hear({ kind: 'birth-ended', ...here, agentId: 'e', position: 7, reason: { code: 'unnamed', message: 'none' } });
  expect(now().birthReasons.get(7)?.message).toBe('none');
  hear({ kind: 'session-ended', time: NOW, sessionId: 'session-2', reason: 'ended' });
  expect(now().birthReasons.size).toBe(0);
  expect(now().lastEnd?.reason).toBe('ended');
});
