import { expect, test } from 'vitest';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import {
  CONVERSATION_LIMITS,
  createConversations,
  type Conversations,
} from '../../../../src/page/state/conversations.ts';
import { memoryOwner } from '../support/fakes.ts';
import { said, sessionEnd } from '../support/household.ts';

const talk = (agentId: string, count: number): Doc[] =>
  Array.from({ length: count }, (_none, i) =>
    said(agentId, i % 2 ? agentId : 'human', `${i}`, 1000 + i, { messageId: `${agentId}-${i}` }),
  );
function household(docs: readonly Doc[], pageSize = 10, isHidden: (doc: Doc) => boolean = () => false) {
  const owner = memoryOwner(docs);
  owner.pageSize = pageSize;
  return { owner, conversations: createConversations(owner, isHidden) };
}
const of = (conversations: Conversations, agentId = 'a') => conversations.store.getState().byAgent.get(agentId);
const idsOf = (conversations: Conversations, agentId = 'a') =>
  (of(conversations, agentId)?.messages ?? []).map((message) => message.messageId);
const numbered = (agentId: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_none, i) => `${agentId}-${from + i}`);

test('older pages come before what is there, each message once, until the beginning', async () => {
  const { conversations } = household(talk('a', 25));
  await conversations.open('a');
  expect(idsOf(conversations)).toEqual(numbered('a', 15, 25));
  await Promise.all([conversations.pages('a').older(), conversations.pages('a').older()]);
  expect(idsOf(conversations)).toEqual(numbered('a', 5, 25));
  await conversations.pages('a').older();
  expect(idsOf(conversations)).toEqual(numbered('a', 0, 25));
  expect(of(conversations)?.before).toBeNull();
  await conversations.pages('a').older();
  expect(of(conversations)?.status).toBe('ready');
});

test('a leap reads everything to the very beginning, page by page, and says when it is there', async () => {
  const { conversations } = household(talk('a', 95));
  await conversations.open('a');
  const seen = new Set<string>();
  conversations.store.subscribe(() => seen.add(of(conversations)?.reading ?? ''));
  expect(await conversations.pages('a').toBeginning()).toBe(true);
  expect(idsOf(conversations)).toEqual(numbered('a', 0, 95));
  expect(of(conversations)).toMatchObject({ status: 'ready', before: null });
  expect([...seen]).toEqual(['all', 'nothing']);
});

test('a leap can be stopped, and what was read stays', async () => {
  const { conversations } = household(talk('a', 95));
  await conversations.open('a');
  const stop = conversations.store.subscribe(() => {
    if (idsOf(conversations).length >= 30) conversations.pages('a').stop();
  });
  expect(await conversations.pages('a').toBeginning()).toBe(false);
  stop();
  expect(idsOf(conversations)).toEqual(numbered('a', 65, 95));
  expect(of(conversations)?.status).toBe('ready');
  await conversations.pages('a').older();
  expect(idsOf(conversations)).toEqual(numbered('a', 55, 95));
});

test('a leap over a page that cannot be read ends, and says so', async () => {
  const { owner, conversations } = household(talk('a', 95));
  await conversations.open('a');
  owner.broken = 'disk error';
  expect(await conversations.pages('a').toBeginning()).toBe(false);
  expect(of(conversations)).toMatchObject({ status: 'failed', error: 'disk error' });
});

test('somebody who scrolls while an older page comes during a leap gets each message once', async () => {
  const { conversations } = household(talk('a', 95));
  await conversations.open('a');
  await Promise.all([
    conversations.pages('a').older(),
    conversations.pages('a').toBeginning(),
    conversations.pages('a').older(),
  ]);
  expect(idsOf(conversations)).toEqual(numbered('a', 0, 95));
});

test('a conversation that is left goes back to its newest page, with what was said since', async () => {
  const { conversations } = household([...talk('a', 50), ...talk('b', 5)]);
  await conversations.open('a');
  await conversations.pages('a').toBeginning();
  conversations.take([said('a', 'a', 'new', 5000, { messageId: 'a-new' })]);
  await conversations.open('b');
  expect(idsOf(conversations)).toEqual([...numbered('a', 40, 50), 'a-new']);
  await conversations.open('a');
  await conversations.pages('a').older();
  expect(idsOf(conversations)).toEqual([...numbered('a', 30, 50), 'a-new']);
});

test('a page that is under way when its conversation is left does not come back into it', async () => {
  const { conversations } = household([...talk('a', 50), ...talk('b', 5)]);
  await conversations.open('a');
  await conversations.pages('a').older();
  const late = conversations.pages('a').older();
  await conversations.open('b');
  await late;
  expect(idsOf(conversations)).toEqual(numbered('a', 40, 50));
  expect(of(conversations)?.status).toBe('ready');
});

test('keeps only the conversations that were opened last', async () => {
  const names = Array.from({ length: CONVERSATION_LIMITS.kept + 2 }, (_none, i) => `agent${i}`);
  const { conversations } = household(names.flatMap((name) => talk(name, 3)));
  for (const name of names) await conversations.open(name);
  expect([...conversations.store.getState().byAgent.keys()].sort()).toEqual(names.slice(2).sort());
  await conversations.open('agent0');
  expect(idsOf(conversations, 'agent0')).toEqual(numbered('agent0', 0, 3));
});

test('keeps a message that arrives while the first page is read', async () => {
  const { conversations } = household(talk('a', 3));
  const opening = conversations.open('a');
  conversations.take([said('a', 'a', 'new', 5000, { messageId: 'a-new' })]);
  await opening;
  expect(idsOf(conversations)).toEqual([...numbered('a', 0, 3), 'a-new']);
});

test('the end of a session is known to every conversation that is kept', async () => {
  const { conversations } = household([...talk('a', 3), ...talk('b', 3)]);
  await conversations.open('a');
  await conversations.open('b');
  conversations.take([sessionEnd('session-1', 9000)]);
  for (const agentId of ['a', 'b']) expect(of(conversations, agentId)?.spans.get('session-1')?.end?.endedAt).toBe(9000);
});

test('reading again fills in what is newer, and leaves what is older where it was', async () => {
  const { owner, conversations } = household(talk('a', 50));
  await conversations.open('a');
  await conversations.pages('a').older();
  owner.docs.push(said('a', 'a', 'new', 5000, { messageId: 'a-new' }));
  await conversations.refresh();
  expect(idsOf(conversations)).toEqual([...numbered('a', 30, 50), 'a-new']);
  await conversations.pages('a').older();
  expect(idsOf(conversations)).toEqual([...numbered('a', 20, 50), 'a-new']);
});

test('hides a conversation that is being forgotten, with all before it, and restores it when kept', async () => {
  const hidden = new Set<string>();
  const { conversations } = household(talk('a', 50), 10, (doc) => hidden.has(doc._id));
  await conversations.open('a');
  await conversations.pages('a').older();
  for (let n = 0; n < 45; n++) hidden.add(`message:a-${n}`);
  conversations.conceal();
  expect(idsOf(conversations)).toEqual(numbered('a', 45, 50));
  expect(of(conversations)?.before).toBeNull();
  hidden.clear();
  await conversations.reread();
  expect(idsOf(conversations)).toEqual(numbered('a', 40, 50));
  await conversations.pages('a').older();
  expect(idsOf(conversations)).toEqual(numbered('a', 30, 50));
});

test('a page that reaches into what is forgotten is the last', async () => {
  const docs = talk('a', 50);
  const forgotten = new Set(docs.slice(0, 33));
  const { conversations } = household(docs, 10, (doc) => forgotten.has(doc));
  await conversations.open('a');
  expect(await conversations.pages('a').toBeginning()).toBe(true);
  expect(idsOf(conversations)).toEqual(numbered('a', 33, 50));
});
