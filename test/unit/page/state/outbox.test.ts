import { expect, test } from 'vitest';
import { createLive } from '../../../../src/page/state/live.ts';
import {
  createOutbox,
  keyOf,
  transition,
  type MessageToAgent,
  type Outbox,
  type Outcome,
  type OutboxEvent,
  type Outgoing,
  type SendState,
} from '../../../../src/page/state/outbox/index.ts';
import { restore } from '../../../../src/page/state/outbox/restore.ts';
import type { TextStorage } from '../../../../src/page/state/ports.ts';
import { memoryOwner } from '../support/fakes.ts';
import { NO_SESSION_SNAPSHOT, NOW, said } from '../support/household.ts';

const REFUSED: SendState = { kind: 'refused', reason: 'Full.' };
const STATES: readonly SendState[] = [{ kind: 'waiting' }, { kind: 'sending' }, { kind: 'accepted' }, REFUSED];
/** For each event, the state that follows each of STATES; null: the message leaves the outbox. */
const TABLE: readonly (readonly [OutboxEvent, readonly (SendState['kind'] | null)[]])[] = [
  [{ kind: 'send' }, ['sending', 'sending', 'accepted', 'refused']],
  [{ kind: 'accepted' }, ['waiting', 'accepted', 'accepted', 'refused']],
  [{ kind: 'unanswered' }, ['waiting', 'waiting', 'accepted', 'refused']],
  [REFUSED, ['waiting', 'refused', 'accepted', 'refused']],
  [{ kind: 'retry' }, ['waiting', 'sending', 'accepted', 'waiting']],
  [{ kind: 'withdraw' }, [null, 'sending', 'accepted', null]],
  [{ kind: 'arrived' }, [null, null, null, null]],
];
test.each(TABLE)('the event $kind moves each state as the table says', (event, expected) => {
  expect(STATES.map((state) => transition(state, event)?.kind ?? null)).toEqual(expected);
});

/** Storage that several pages share, as the tabs of one browser do. */
function sharedStorage() {
  const texts = new Map<string, string>();
  const tabs: { readonly onGone: Set<(key: string) => void> }[] = [];
  function openTab(): TextStorage {
    const tab = { onGone: new Set<(key: string) => void>() };
    tabs.push(tab);
    return {
      read: (key) => texts.get(key) ?? null,
      write(key, text) {
        if (text !== '') texts.set(key, text);
        else if (texts.delete(key))
          for (const other of tabs) if (other !== tab) for (const task of other.onGone) task(key);
        return true;
      },
      keys: (prefix) => [...texts.keys()].filter((key) => key.startsWith(prefix)),
      onGone(task) {
        tab.onGone.add(task);
        return () => tab.onGone.delete(task);
      },
    };
  }
  return { texts, openTab };
}

interface TestPage {
  readonly outbox: Outbox;
  readonly attempts: Outgoing[];
  /** Ends the oldest attempt that is under way. */
  answer(outcome: Outcome | Promise<never>): Promise<void>;
  connect(isLive: boolean): void;
  /** Lets the time until the next attempt pass. */
  passTime(): void;
  states(): readonly string[];
}
const settled = () => new Promise<void>((resolve) => setTimeout(resolve));

function openPage(browser = sharedStorage().openTab(), ids = 'id'): TestPage {
  const live = createLive(() => NOW);
  const answers: ((outcome: Outcome | Promise<never>) => void)[] = [];
  const attempts: Outgoing[] = [];
  let due: (() => void)[] = [];
  let count = 0;
  const outbox = createOutbox({
    device: {
      browser,
      now: () => NOW,
      newId: () => `${ids}-${++count}`,
      after(_ms, task) {
        due.push(task);
        return () => undefined;
      },
    },
    live,
    deliver(item) {
      attempts.push(item);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  const connect = (isLive: boolean) =>
    live.hearLink(isLive ? { kind: 'live' } : { kind: 'lost', reason: 'unreachable' }, NO_SESSION_SNAPSHOT);
  connect(true);
  return {
    outbox,
    attempts,
    async answer(outcome) {
      answers.shift()?.(outcome);
      await settled();
    },
    connect,
    passTime() {
      const tasks = due;
      due = [];
      for (const task of tasks) task();
    },
    states: () => outbox.store.getState().items.map(({ clientId, state }) => `${clientId} ${state.kind}`),
  };
}
const hello = { to: 'agent', agentId: 'a', text: 'Hello', replaces: null, attachments: [] } as const;
const UNANSWERED: Outcome = { kind: 'unanswered' };
const write = (page: TestPage) => void page.outbox.send(hello);

test('sends a message once, and keeps it until it arrives', async () => {
  const page = openPage();
  write(page);
  expect(page.states()).toEqual(['id-1 sending']);
  await page.answer({ kind: 'accepted' });
  expect(page.states()).toEqual(['id-1 accepted']);
  page.connect(false);
  page.connect(true);
  page.outbox.take([said('a', 'human', 'Hello', NOW, { clientId: 'id-1' })]);
  expect(page.states()).toEqual([]);
  expect(page.attempts).toHaveLength(1);
});

test('a message that arrives before its answer stays gone', async () => {
  const page = openPage();
  write(page);
  page.outbox.take([said('a', 'human', 'Hello', NOW, { clientId: 'id-1' })]);
  await page.answer(UNANSWERED);
  expect(page.states()).toEqual([]);
});

test('an unanswered message is sent again when the relay is back, under the same id', async () => {
  const page = openPage();
  write(page);
  page.connect(false);
  await page.answer(UNANSWERED);
  expect(page.states()).toEqual(['id-1 waiting']);
  page.passTime();
  expect(page.attempts).toHaveLength(1);
  page.connect(true);
  expect(page.states()).toEqual(['id-1 sending']);
  expect(page.attempts.map(({ clientId }) => clientId)).toEqual(['id-1', 'id-1']);
});

test('an unanswered message is sent again after a while where the relay stays connected', async () => {
  const page = openPage();
  write(page);
  await page.answer(UNANSWERED);
  page.passTime();
  expect(page.states()).toEqual(['id-1 sending']);
});

test('keeps a message waiting when the module that sends it cannot be loaded', async () => {
  const page = openPage();
  write(page);
  await page.answer(Promise.reject(new Error('not loaded')));
  expect(page.states()).toEqual(['id-1 waiting']);
});

test('a refused message says why, waits for the person, and is sent once by a double press', async () => {
  const page = openPage();
  write(page);
  await page.answer({ kind: 'refused', reason: 'The thread is closed.' });
  expect(page.outbox.store.getState().items[0]?.state).toEqual({ kind: 'refused', reason: 'The thread is closed.' });
  page.connect(false);
  page.connect(true);
  expect(page.attempts).toHaveLength(1);
  void page.outbox.retry('id-1');
  void page.outbox.retry('id-1');
  expect(page.attempts).toHaveLength(2);
});

test('a message that is being sent cannot be withdrawn, and a waiting one goes back with its files', async () => {
  const page = openPage();
  const file = { attachmentId: 'f', name: 'a.txt', mediaType: 'text/plain', bytes: 1, data: 'YQ==', sha256: '00' };
  void page.outbox.send({ ...hello, attachments: [file] });
  expect(page.outbox.withdraw('id-1')).toBeNull();
  await page.answer(UNANSWERED);
  expect(page.outbox.withdraw('id-1')).toEqual({ text: 'Hello', files: [file] });
  expect(page.outbox.withdraw('id-1')).toBeNull();
  expect(page.states()).toEqual([]);
  page.passTime();
  expect(page.attempts).toHaveLength(1);
});

test('a second tab drops a message that arrived in the first', async () => {
  const { openTab } = sharedStorage();
  const [first, second] = [openPage(openTab()), openPage(openTab())];
  write(first);
  second.outbox.restore({ ...hello, clientId: 'id-1', time: NOW, state: { kind: 'waiting' } });
  first.outbox.take([said('a', 'human', 'Hello', NOW, { clientId: 'id-1' })]);
  expect(second.states()).toEqual([]);
});

/** The next page of this browser, with these documents in the ledger. */
async function reopen(browser: TextStorage, docs: Parameters<typeof memoryOwner>[0] = []): Promise<TestPage> {
  const page = openPage(browser, 'next');
  const shelf = {
    put: () => Promise.resolve(true),
    read: () => Promise.resolve(null),
    remove: () => Promise.resolve(),
  };
  await restore(page.outbox, { dataWorker: memoryOwner(docs), device: { browser, shelf } });
  return page;
}

test.each([...STATES])('a message that is $kind survives a reload', async (state) => {
  const { openTab } = sharedStorage();
  openPage(openTab()).outbox.restore({ ...hello, clientId: 'c', time: NOW, state } satisfies MessageToAgent);
  const page = await reopen(openTab());
  expect(page.states()).toEqual([state.kind === 'refused' ? 'c refused' : 'c sending']);
  if (state.kind === 'refused') expect(page.outbox.store.getState().items[0]?.state).toEqual(REFUSED);
});

test('a message that arrived before the reload is not sent again', async () => {
  const { openTab, texts } = sharedStorage();
  write(openPage(openTab()));
  const page = await reopen(openTab(), [said('a', 'human', 'Hello', NOW, { clientId: 'id-1' })]);
  expect(page.attempts).toEqual([]);
  expect([...texts]).toEqual([]);
});

test('reads what an earlier version stored, and removes what is none of Roost’s', async () => {
  const { openTab, texts } = sharedStorage();
  const old = { text: 'Old', time: NOW, error: null, waits: true };
  const inThread = { ...old, clientId: 'c1', mentions: ['a'], after: 3 };
  texts.set('roost-unsent-in:bridge:c1', JSON.stringify(inThread));
  const toAgent = { ...old, clientId: 'c2', time: NOW + 1, agentId: 'a', replaces: null, error: 'Full.' };
  texts.set('roost-unsent:c2', JSON.stringify(toAgent));
  texts.set('roost-unsent:c3', 'nonsense');
  const page = await reopen(openTab());
  expect(page.states()).toEqual(['c1 sending', 'c2 refused']);
  expect(page.attempts).toMatchObject([{ to: 'thread', threadId: 'bridge', mentions: ['a'], after: 3 }]);
  expect([...texts.keys()].sort()).toEqual([keyOf('c1'), keyOf('c2')]);
});

test('refuses a message whose files are no longer on the device', async () => {
  const { openTab, texts } = sharedStorage();
  const file = { attachmentId: 'f', name: 'a.txt', mediaType: 'text/plain', bytes: 1, sha256: '00' };
  texts.set(keyOf('c'), JSON.stringify({ ...hello, clientId: 'c', time: NOW, attachments: [file] }));
  const page = await reopen(openTab());
  expect(page.outbox.store.getState().items).toMatchObject([{ state: { kind: 'refused' }, attachments: [] }]);
});
