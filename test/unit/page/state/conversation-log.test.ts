import { expect, test } from 'vitest';
import { logItems, type LogInput } from '../../../../src/page/state/conversation-log.ts';
import { visibleMessages } from '../../../../src/page/state/conversations.ts';
import type { MessageToAgent } from '../../../../src/page/state/outbox/index.ts';
import { type RunSpan, sessionSpansOf } from '../../../../src/page/state/live.ts';
import { NOW, said, sessionEnd, sessionStart } from '../support/household.ts';

const input = (part: Partial<LogInput>): LogInput => ({
  messages: [],
  spans: new Map(),
  runs: new Map(),
  read: new Set(),
  open: [],
  queued: [],
  sending: [],
  liveSessionId: null,
  asleep: true,
  newFrom: null,
  ...part,
});
const kinds = (part: Partial<LogInput>) => logItems(input(part)).map((item) => item.kind);
const q = (messageId: string, time: number, more = {}) => said('a', 'human', messageId, time, { messageId, ...more });
const r = (messageId: string, time: number, more = {}) => said('a', 'a', messageId, time, { messageId, ...more });
const sending = (more: Partial<MessageToAgent>): MessageToAgent => ({
  to: 'agent',
  clientId: 'c',
  agentId: 'a',
  text: 'x',
  time: NOW,
  state: { kind: 'sending' },
  attachments: [],
  replaces: null,
  ...more,
});

test('an edit hides what it replaces and all that came after, in whatever order they come', () => {
  const all = [q('1', 1), r('2', 2), q('3', 3), r('4', 4), q('5', 5, { replaces: '3' }), r('6', 6)];
  for (const messages of [all, [...all].reverse()])
    expect(visibleMessages(messages).map((m) => m.messageId)).toEqual(['1', '2', '5', '6']);
});

test('an edit of an edit, and an edit of something unknown', () => {
  expect(
    visibleMessages([q('1', 1), q('2', 2, { replaces: '1' }), q('3', 3, { replaces: '2' })]).map((m) => m.messageId),
  ).toEqual(['3']);
  expect(visibleMessages([q('1', 1), q('2', 2, { replaces: 'gone' })]).map((m) => m.messageId)).toEqual(['1', '2']);
});

test('a clock that went back begins no yesterday below today, and no sleep ends before it began', () => {
  const day = 86_400_000;
  const back = [
    q('1', NOW),
    r('2', NOW + 1),
    q('3', NOW - day),
    r('4', NOW - day + 1),
    q('5', NOW + 2),
    q('6', NOW + day),
  ];
  expect(kinds({ messages: back, liveSessionId: 'session-1' })).toEqual([
    'day',
    'message',
    'message',
    'message',
    'message',
    'message',
    'day',
    'message',
  ]);
  const items = logItems(
    input({ messages: [q('1', NOW), q('2', NOW - day, { sessionId: 'session-2' })], liveSessionId: 'session-2' }),
  );
  expect(items[2]).toMatchObject({ kind: 'sleep', from: NOW, until: NOW });
});

test('days part, and sleeps part sessions', () => {
  const day = 86_400_000;
  expect(
    kinds({ messages: [q('1', NOW - day), r('2', NOW - day + 1), q('3', NOW)], liveSessionId: 'session-1' }),
  ).toEqual(['day', 'message', 'message', 'day', 'message']);
  const spans = sessionSpansOf([sessionEnd('session-1', NOW - 500, 'crash'), sessionStart('session-2', NOW - 100)]);
  const items = logItems(
    input({
      messages: [q('1', NOW - 1000), r('2', NOW, { sessionId: 'session-2' })],
      spans,
      liveSessionId: 'session-2',
    }),
  );
  // A crash is dated by the next start: they slept from the last word on.
  expect(items[2]).toMatchObject({ kind: 'sleep', from: NOW - 1000, until: NOW - 100, reason: 'crash' });
  const idle = sessionSpansOf([sessionEnd('session-1', NOW - 500, 'idle'), sessionStart('session-2', NOW - 100)]);
  const messages = [q('1', NOW - 1000), r('2', NOW, { sessionId: 'session-2' })];
  expect(logItems(input({ messages, spans: idle, liveSessionId: 'session-2' }))[2]).toMatchObject({ from: NOW - 500 });
});

test('hides a message at once while it is edited, and shows it again if sending fails', () => {
  const messages = [q('1', 1), r('2', 2)];
  expect(kinds({ messages, sending: [sending({ replaces: '1' })], liveSessionId: 'session-1' })).toEqual(['sending']);
  expect(
    kinds({
      messages,
      sending: [sending({ replaces: '1', state: { kind: 'refused', reason: 'no' } })],
      liveSessionId: 'session-1',
    }),
  ).toEqual(['day', 'message', 'message', 'sending']);
});

test('shows one line per message, whether it is being sent, stored or received', () => {
  const queued = {
    _id: 'queued-message:c',
    type: 'queued-message' as const,
    schema: 1,
    at: '000000000000001-000000-x',
    clientId: 'c',
    agentId: 'a',
    text: 'x',
    time: NOW,
  };
  expect(kinds({ queued: [queued], sending: [sending({})] })).toEqual(['queued']);
  expect(
    kinds({
      messages: [q('1', 1, { clientId: 'c' })],
      queued: [queued],
      sending: [sending({})],
      liveSessionId: 'session-1',
    }),
  ).toEqual(['day', 'message']);
});

test('a message waits until it is read', () => {
  const waits = (read: ReadonlySet<string>) =>
    logItems(input({ messages: [q('1', 1, { waiting: true })], read })).flatMap((item) =>
      item.kind === 'message' ? [item.waits] : [],
    );
  expect(waits(new Set())).toEqual(['inbox']);
  expect(waits(new Set(['1']))).toEqual([null]);
});

test('shows a message written during an answer below it, waiting, also once the answer is done', () => {
  const open = [{ messageId: '2', startedAt: NOW + 1 }];
  const items = logItems(
    input({ messages: [q('1', NOW), q('3', NOW + 2)], open, liveSessionId: 'session-1', asleep: false }),
  );
  expect(items.map(({ kind, key }) => [kind, key])).toEqual([
    ['day', 'day:1'],
    ['message', '1'],
    ['open', '2'],
    ['message', '3'],
  ]);
  expect(items.flatMap((item) => (item.kind === 'message' ? [item.waits] : []))).toEqual([null, 'answer']);
  // The relay says of an answer that it was when it began.
  expect(
    logItems(
      input({
        messages: visibleMessages([q('1', NOW), q('3', NOW + 2), r('2', NOW + 1)]),
        liveSessionId: 'session-1',
        asleep: false,
      }),
    ).map(({ key }) => key),
  ).toEqual(['day:1', '1', '2', '3']);
});

test('shows an agent that was written to but not woken as asleep since the session before', () => {
  const first = said('a', 'a', 'Hm.', NOW - 900, { sessionId: 'session-1' });
  const later = said('a', 'human', 'Are you there?', NOW - 500, { sessionId: 'session-2', waiting: true });
  const span = (startedAt: number, endedAt: number) => ({ startedAt, end: { endedAt, reason: 'ended' as const } });
  const at = {
    messages: [first, later],
    spans: new Map([
      ['session-1', span(NOW - 1_000, NOW - 800)],
      ['session-2', span(NOW - 600, NOW - 400)],
    ]),
  };
  const sleeps = (more: Partial<LogInput>) =>
    logItems(input({ ...at, ...more })).filter((item) => item.kind === 'sleep');
  expect(sleeps({})).toMatchObject([{ from: NOW - 800, until: null }]);
  expect(sleeps({ liveSessionId: 'session-2' })).toMatchObject([{ from: NOW - 800, until: null }]);
  expect(sleeps({ read: new Set([later.messageId]) })).toMatchObject([
    { from: NOW - 800, until: NOW - 600 },
    { from: NOW - 400, until: null },
  ]);
});

test('shows no sleep for a stirring agent, and the end of its sleep above the first words', () => {
  const spans = sessionSpansOf([sessionEnd('session-1', NOW - 5_000), sessionStart('session-2', NOW - 10)]);
  const at = { messages: [r('1', NOW - 9_000)], spans, liveSessionId: 'session-2' };
  expect(kinds(at)).toEqual(['day', 'message', 'sleep']);
  expect(kinds({ ...at, asleep: false })).toEqual(['day', 'message']);
  const items = logItems(input({ ...at, open: [{ messageId: '2', startedAt: NOW }], asleep: false }));
  expect(items.map(({ kind, key }) => [kind, key]).slice(2)).toEqual([
    ['sleep', 'sleep:2'],
    ['open', '2'],
  ]);
  expect(items[2]).toMatchObject({ from: NOW - 5_000, until: NOW - 10 });
});

test('a line stands where new begins: before the first that somebody else said behind the mark', () => {
  const messages = [q('1', 1), r('2', 2), q('3', 3), r('4', 4), r('5', 5)];
  const log = (newFrom: string | null) =>
    logItems(input({ messages, asleep: false, newFrom })).map((item) =>
      item.kind === 'message' ? item.message.messageId : item.kind,
    );
  expect(log(messages[1]?.at ?? null)).toEqual(['day', '1', '2', '3', 'new', '4', '5']);
  expect(log(messages[4]?.at ?? null)).not.toContain('new');
  expect(log(null)).not.toContain('new');
});

test('shows messages outside a session under one line with their cause and end', () => {
  const span = (runId: string): RunSpan => ({
    runId,
    cause: { kind: 'pulse', routine: 'Morning round' },
    startedAt: NOW + 50,
    end: { endedAt: NOW + 90, outcome: 'done', reason: null },
  });
  const alone = (messageId: string, time: number, runId: string) => r(messageId, time, { sessionId: null, runId });
  const input_ = {
    messages: [
      q('1', NOW),
      r('2', NOW + 1),
      alone('3', NOW + 60, 'r1'),
      alone('4', NOW + 70, 'r1'),
      alone('5', NOW + 80, 'r2'),
    ],
    spans: sessionSpansOf([sessionEnd('session-1', NOW + 10)]),
    runs: new Map([['r1', span('r1')]]),
  };
  const items = logItems(input(input_));
  expect(items.map((item) => item.kind)).toEqual([
    'day',
    'message',
    'message',
    'run',
    'message',
    'message',
    'run',
    'message',
  ]);
  const lines = items.flatMap((item) => (item.kind === 'run' ? [item.run] : []));
  // Of one that is not known yet, that it was one.
  expect(lines).toEqual([span('r1'), { runId: 'r2', cause: null, startedAt: null, end: null }]);
  // The next session begins after a sleep: since the last thing that it did.
  const next = q('6', NOW + 1000, { sessionId: 'session-2' });
  const [sleep] = logItems(input({ ...input_, messages: [...input_.messages, next], asleep: false })).flatMap((item) =>
    item.kind === 'sleep' ? [item] : [],
  );
  expect(sleep).toMatchObject({ from: NOW + 80, until: NOW + 1000 });
});

test('an answer that is being written in no session stands under its line, with no session before it', () => {
  const items = logItems(
    input({ messages: [q('1', NOW)], open: [{ messageId: 'o', startedAt: NOW + 5, aloneIn: 'r1' }] }),
  );
  expect(items.map((item) => item.kind)).toEqual(['day', 'message', 'run', 'open']);
});
