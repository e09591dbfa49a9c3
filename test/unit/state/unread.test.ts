import { expect, test } from 'vitest';
import { createUnread } from '../../../src/state/unread.ts';
import { documentsOf } from '../../../src/protocol/intake.ts';
import type { EventOf, StoredEvent } from '../../../src/protocol/events.ts';

function tab() {
  const rows = new Map<string, string>();
  return { rows, read: (key: string) => rows.get(key) ?? null, write: (key: string, text: string) => Boolean(rows.set(key, text)) };
}
const message = (more: Partial<EventOf<'message'>>): EventOf<'message'> => ({ kind: 'message', time: 1, messageId: 'm', sessionId: 's', agentId: 'a', author: 'a', role: 'assistant', blocks: [], status: 'complete', error: null, usage: null, clientId: null, replaces: null, waiting: false, ...more });

const hear = (unread: ReturnType<typeof createUnread>, stored: StoredEvent) => unread.hearDocuments(documentsOf(stored));

test('answers count until they are looked at, and not while they are', () => {
  const unread = createUnread(tab());
  const count = () => unread.store.getState().counts.get('a') ?? 0;
  hear(unread, { id: 1, event: message({}) });
  hear(unread, { id: 2, event: message({}) });
  expect(count()).toBe(2);
  unread.look('a');
  expect(count()).toBe(0);
  hear(unread, { id: 3, event: message({}) });
  expect(count()).toBe(0);
  unread.look(null);
  hear(unread, { id: 4, event: message({}) });
  expect(count()).toBe(1);
});

test('messages wait in an inbox until they are read', () => {
  const unread = createUnread(tab());
  const waiting = () => unread.store.getState().inbox.get('a')?.size ?? 0;
  hear(unread, { id: 1, event: message({ role: 'user', author: 'human', waiting: true }) });
  hear(unread, { id: 1, event: message({ role: 'user', author: 'human', waiting: true }) });
  expect(waiting()).toBe(1);
  hear(unread, { id: 2, event: { kind: 'message-read', time: 1, messageId: 'm', agentId: 'a', sessionId: 's' } });
  expect(waiting()).toBe(0);
});

test('counts outlive a reload of the tab, and nonsense in its memory does not matter', () => {
  const memory = tab();
  hear(createUnread(memory), { id: 1, event: message({}) });
  expect(createUnread(memory).store.getState().counts.get('a')).toBe(1);
  for (const nonsense of ['{', 'a\t-1', 'a', '\n\n']) {
    for (const key of memory.rows.keys()) memory.write(key, nonsense);
    expect(createUnread(memory).store.getState().counts.size).toBe(0);
  }
});

test('what was said before the page was opened is news where the relay tells of it, and not where another device brings it', () => {
  const unread = createUnread(tab(), 100);
  const count = () => unread.store.getState().counts.get('a') ?? 0;
  const docs = (messageId: string, time: number) => documentsOf({ id: 1, event: message({ messageId, time }) });
  unread.hearDocuments(docs('brought', 99));
  expect(count()).toBe(0);
  unread.hearTold(docs('waited', 99));
  unread.hearDocuments(docs('waited', 99));
  expect(count()).toBe(1);
  unread.hearDocuments(docs('brought-later', 100));
  expect(count()).toBe(2);
});

test('a message does not wait where it was read before it came', () => {
  const unread = createUnread(tab());
  hear(unread, { id: 1, event: { kind: 'message-read', time: 1, messageId: 'm', agentId: 'a', sessionId: 's' } });
  hear(unread, { id: 2, event: message({ role: 'user', author: 'human', waiting: true }) });
  expect(unread.store.getState().inbox.get('a')?.size ?? 0).toBe(0);
});
