import { expect, test } from 'vitest';
import { createClock } from '../../../../src/shared/domain/stamp.ts';
import { readMarkOf } from '../../../../src/shared/domain/read-marks.ts';
import { createWriter } from '../../../../src/page/state/documents.ts';
import { createUnread, MARK_MS, UNREAD, type Unread } from '../../../../src/page/state/unread.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import type { EventOf, StoredEvent } from '../../../../src/shared/protocol/events.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import { at, NOW, said, settingDoc } from '../support/household.ts';
import { memoryOwner, type MemoryOwner } from '../support/fakes.ts';

const message = (more: Partial<EventOf<'message'>>): EventOf<'message'> => ({
  kind: 'message',
  time: 1,
  messageId: 'm',
  sessionId: 's',
  agentId: 'a',
  author: 'a',
  role: 'assistant',
  blocks: [],
  status: 'complete',
  error: null,
  usage: null,
  clientId: null,
  replaces: null,
  waiting: false,
  ...more,
});
const hear = (unread: Unread, stored: StoredEvent) => unread.hearDocuments(documentsOf(stored));
const settle = () => new Promise((resolve) => setTimeout(resolve));

/** A tab over a ledger; time goes on when it is told to. */
function tab(owner: MemoryOwner, node = 'tab') {
  const timers: { readonly ms: number; readonly task: () => void }[] = [];
  let ids = 0;
  const writer = createWriter({
    clock: createClock({ now: () => NOW, node }),
    newId: () => `${node}-${++ids}`,
    now: () => NOW,
  });
  const device = {
    after(ms: number, task: () => void) {
      const timer = { ms, task };
      timers.push(timer);
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
    },
  };
  const unread = createUnread({ dataWorker: owner, writer, device });
  owner.subscribe((news) => {
    if (news.news === 'documents') unread.hearDocuments(news.docs);
  });
  const pass = async (ms: number) => {
    await settle();
    for (const timer of timers.filter((one) => one.ms <= ms)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.task();
    }
    await settle();
  };
  return {
    unread,
    pass,
    count: (agentId = 'a') => unread.store.getState().counts.get(agentId) ?? 0,
    begins: (agentId = 'a') => unread.store.getState().begins.get(agentId) ?? null,
  };
}
const marksIn = (owner: MemoryOwner) =>
  owner.docs.flatMap((doc) =>
    doc.type === 'setting' ? [readMarkOf({ key: String(doc['key']), value: doc['value'] })] : [],
  );
const store = (owner: MemoryOwner, ...docs: Doc[]) => owner.call('append', docs);

test('shows the same in every tab, and marks as read in all what is read in one', async () => {
  const read = said('a', 'a', 'Read.', NOW - 3);
  const owner = memoryOwner([
    settingDoc('read:a', read.at),
    said('a', 'a', 'Long ago.', NOW - 9),
    read,
    said('a', 'human', 'Mine.', NOW - 2),
    said('a', 'a', 'New.', NOW - 1),
  ]);
  const [one, two] = [tab(owner, 'one'), tab(owner, 'two')];
  await Promise.all([one.unread.refresh(), two.unread.refresh()]);
  expect([one.count(), two.count()]).toEqual([1, 1]);
  await store(owner, said('a', 'a', 'Newer.', NOW + 1));
  await one.pass(UNREAD.askMs);
  await two.pass(UNREAD.askMs);
  const late = tab(owner, 'late');
  await late.unread.refresh();
  expect([one.count(), two.count(), late.count()]).toEqual([2, 2, 2]);
  expect(late.begins()).toBe(read.at);
  one.unread.view('a');
  expect(one.count()).toBe(0);
  // As it was when it was opened.
  expect(one.begins()).toBe(read.at);
  await two.pass(UNREAD.askMs);
  await late.pass(UNREAD.askMs);
  expect([two.count(), late.count()]).toEqual([0, 0]);
  expect(two.begins()).toBeNull();
});

test('treats present messages without a mark as read, and later ones as new', async () => {
  const owner = memoryOwner([said('a', 'a', 'Old.', NOW - 5)]);
  const call = owner.call.bind(owner);
  // A ledger in which nothing was ever marked.
  owner.call = async (name, ...args) => {
    const answer = await call(name, ...args);
    const begun = owner.docs.some((doc) => doc.type === 'setting');
    return name === 'unread' && !begun
      ? ({
          since: null,
          conversations: [{ agentId: 'a', upTo: null, unread: 0, newest: null }],
          newest: owner.docs[0]?.at ?? '',
        } as typeof answer)
      : answer;
  };
  const one = tab(owner);
  await one.unread.refresh();
  expect(one.count()).toBe(0);
  await one.pass(UNREAD.askMs);
  expect(marksIn(owner).map((mark) => mark?.kind)).toEqual(['since']);
  await store(owner, said('a', 'a', 'New.', NOW + 1));
  await one.pass(UNREAD.askMs);
  expect(one.count()).toBe(1);
});

test('marks messages as read while one looks, writes the mark with pauses and on leaving', async () => {
  const owner = memoryOwner([settingDoc('read:a', at(NOW - 10))]);
  const one = tab(owner);
  await one.unread.refresh();
  one.unread.view('a');
  expect(marksIn(owner)).toHaveLength(1);
  for (let n = 1; n <= 4; n++) {
    await store(owner, said('a', 'a', `${n}`, NOW + n));
    await one.pass(UNREAD.askMs);
    expect(one.count()).toBe(0);
  }
  // No line appears under the eyes of who reads.
  expect(one.begins()).toBeNull();
  expect(marksIn(owner)).toHaveLength(2);
  await one.pass(MARK_MS);
  expect(marksIn(owner)).toHaveLength(3);
  await one.pass(MARK_MS);
  expect(marksIn(owner)).toHaveLength(3);
  await store(owner, said('a', 'a', '5', NOW + 5));
  await one.pass(UNREAD.askMs);
  await store(owner, said('a', 'a', '6', NOW + 6));
  await one.pass(UNREAD.askMs);
  one.unread.view(null);
  await settle();
  expect(marksIn(owner).at(-1)).toMatchObject({
    kind: 'conversation',
    at: owner.docs.findLast((doc) => doc.type === 'message')?.at,
  });
  await store(owner, said('a', 'a', '7', NOW + 7));
  await one.pass(UNREAD.askMs);
  expect(one.count()).toBe(1);
});

test('an answer that is on screen elsewhere is read, unless an earlier message is not', async () => {
  const read = said('a', 'a', 'Read.', NOW - 3);
  const answer = said('a', 'a', 'An answer.', NOW - 1);
  const missed = said('b', 'b', 'Missed.', NOW - 3);
  const other = said('b', 'b', 'An answer.', NOW - 1);
  const owner = memoryOwner([
    ...[settingDoc('read:a', read.at), settingDoc('read:b', at(NOW - 9))],
    ...[read, said('a', 'human', 'Well?', NOW - 2), answer],
    ...[missed, said('b', 'human', 'Well?', NOW - 2), other],
  ]);
  const one = tab(owner);
  await one.unread.refresh();
  expect([one.count('a'), one.count('b')]).toEqual([1, 2]);
  one.unread.seen('a', answer.at, 1);
  one.unread.seen('b', other.at, 1);
  expect([one.count('a'), one.count('b')]).toEqual([0, 2]);
  // It is on screen before the ledger has counted it.
  const later = said('a', 'a', 'And more.', NOW + 1);
  one.unread.seen('a', later.at, 2);
  await store(owner, later);
  await one.pass(UNREAD.askMs);
  expect(one.count('a')).toBe(0);
});

test('threads are read in every tab at once, and a mark that is behind moves nothing back', async () => {
  const owner = memoryOwner([settingDoc('read-thread:t1', 4)]);
  const [one, two] = [tab(owner, 'one'), tab(owner, 'two')];
  await Promise.all([one.unread.refresh(), two.unread.refresh()]);
  const places = () => [one, two].map(({ unread }) => unread.store.getState().threads.byThread.get('t1'));
  expect(places()).toEqual([4, 4]);
  one.unread.viewThread('t1', 6);
  expect(places()).toEqual([6, 4]);
  await two.pass(UNREAD.askMs);
  expect(places()).toEqual([6, 6]);
  // Read on while the first mark rests: written when it is left.
  one.unread.viewThread('t1', 7);
  one.unread.viewThread('t1', 9);
  expect(marksIn(owner)).toHaveLength(2);
  one.unread.leaveThread('t1');
  two.unread.viewThread('t1', 5);
  await Promise.all([one.pass(UNREAD.askMs), two.pass(UNREAD.askMs)]);
  expect(places()).toEqual([9, 9]);
  const late = tab(owner, 'late');
  await late.unread.refresh();
  expect(late.unread.store.getState().threads.byThread.get('t1')).toBe(9);
});

test('a mark that could not be kept is kept with the next', async () => {
  const owner = memoryOwner([settingDoc('read:a', at(NOW - 10)), said('a', 'a', 'New.', NOW + 1)]);
  const one = tab(owner);
  await one.unread.refresh();
  owner.broken = 'The disk is full.';
  one.unread.view('a');
  await settle();
  expect(one.count()).toBe(0);
  owner.broken = null;
  await one.pass(MARK_MS);
  expect(marksIn(owner)).toHaveLength(2);
});

test('messages wait in an inbox until they are read', () => {
  const { unread } = tab(memoryOwner());
  const waiting = () => unread.store.getState().inbox.get('a')?.size ?? 0;
  hear(unread, { id: 1, event: message({ role: 'user', author: 'human', waiting: true }) });
  hear(unread, { id: 1, event: message({ role: 'user', author: 'human', waiting: true }) });
  expect(waiting()).toBe(1);
  hear(unread, { id: 2, event: { kind: 'message-read', time: 1, messageId: 'm', agentId: 'a', sessionId: 's' } });
  expect(waiting()).toBe(0);
});

test('a message does not wait where it was read before it came', () => {
  const { unread } = tab(memoryOwner());
  hear(unread, { id: 1, event: { kind: 'message-read', time: 1, messageId: 'm', agentId: 'a', sessionId: 's' } });
  hear(unread, { id: 2, event: message({ role: 'user', author: 'human', waiting: true }) });
  expect(unread.store.getState().inbox.get('a')?.size ?? 0).toBe(0);
});
