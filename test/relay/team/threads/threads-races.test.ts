import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import { PERSON } from '../../../../src/shared/domain/threads.ts';
import type { ThreadMessage } from '../../../../src/shared/protocol/threads.ts';
import { createRandom } from '../../../support/random.ts';
import { createStorePlace, STORES, type StorePlace } from '../../../support/stores.ts';
import { good, openThreadHouse, type ThreadHouse } from '../../../support/threads.ts';

const AGENTS = ['a', 'b', 'c'] as const;
const PAGE = { before: null, limit: 200, run: null };
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe.each(STORES)('threads in which many things happen at once, on %s', (kind) => {
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace(kind);
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  const send = (house: ThreadHouse, from: string, threadId: string, text: string, clientId: string | null = null) =>
    house.threads.send(from, threadId, { text, mentionRefs: [], clientId });
  const open = async (house: ThreadHouse, title = 'Busy') =>
    good(await house.threads.create('a', { title, participantRefs: ['b', 'c'] })).thread.threadId;

  it('keeps fifty messages that are sent at once, each in its place, in the order in which they were sent', async () => {
    const house = await openThreadHouse(store);
    const threadId = await open(house);
    const sent = await Promise.all(upTo(50).map((i) => send(house, AGENTS[i % 3] ?? 'a', threadId, `m${i}`)));
    expect(sent.map((answer) => good(answer).message.sequence)).toEqual(upTo(50));
    const { messages, thread } = good(await house.threads.read(PERSON, threadId, PAGE));
    expect(messages.map(({ text }) => text)).toEqual(upTo(50).map((i) => `m${i}`));
    expect(thread.messages).toBe(50);
  });

  it('gives no place twice and none to nobody when two processes write at once', async () => {
    const one = await openThreadHouse(store);
    const threadId = await open(one);
    const other = await one.again();
    const sent = await Promise.all(
      upTo(40).map((i) => send(i % 2 ? one : other, 'a', threadId, `m${i}`, `c${i >> 1}`)),
    );
    const { messages } = good(await one.threads.read(PERSON, threadId, PAGE));
    // Every client id but the first and the last was used by both.
    expect(messages.map((message) => message.sequence)).toEqual(upTo(21));
    expect(new Set(sent.map((answer) => good(answer).message.messageId))).toEqual(
      new Set(messages.map((message) => message.messageId)),
    );
  });

  it('says once that an agent has no open thread any more, though its last two are closed at one moment by two processes', async () => {
    const one = await openThreadHouse(store);
    const [first, second] = [await open(one), await open(one)];
    const other = await one.again();
    await Promise.all([one.threads.close('a', first, ''), other.threads.close('b', second, '')]);
    const lasts = [...one.told, ...other.told].flatMap((item) =>
      item.hook === 'leftLast' ? [`${item.agentId} ${item.event}`] : [],
    );
    expect(lasts.sort()).toEqual(AGENTS.map((agentId) => `${agentId} last_thread_closed`));
  });

  it('closes a thread once, and keeps nothing that is said after it', async () => {
    const house = await openThreadHouse(store);
    const threadId = await open(house);
    const answers = await Promise.all([
      send(house, 'a', threadId, 'before'),
      house.threads.close('a', threadId, 'first'),
      house.threads.close('b', threadId, 'second'),
      send(house, 'a', threadId, 'after'),
    ]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, false, false]);
    expect(good(await house.threads.read(PERSON, threadId, PAGE))).toMatchObject({
      thread: { closed: { summary: 'first' } },
      messages: [{ text: 'before' }],
    });
  });

  it('tells everything once and in order', async () => {
    const house = await openThreadHouse(store);
    const threadId = await open(house);
    const { threads } = house;
    await Promise.all([
      threads.send('a', threadId, { text: 'm1', mentionRefs: ['b', 'c'], clientId: null }),
      threads.remove('a', threadId, 'c'),
      threads.send('b', threadId, { text: 'm2', mentionRefs: ['a'], clientId: null }),
      threads.add('b', threadId, 'c'),
      threads.send(PERSON, threadId, { text: 'm3', mentionRefs: ['c'], clientId: null }),
      threads.close('b', threadId, ''),
    ]);
    const story = house.told
      .slice(2)
      .map((item) =>
        [item.hook, item.agentId, 'text' in item ? item.text : '', 'times' in item ? item.times : '']
          .filter((part) => part !== '')
          .join(' '),
      );
    expect(story).toEqual([
      'mentioned b m1',
      'mentioned c m1',
      'leftLast c',
      'mentioned a m2',
      'added c 2',
      'mentioned c m3',
      'leftLast a',
      'leftLast b',
      'leftLast c',
    ]);
  });

  it('gives an agent that waits again and again every message once and in order, whatever happens meanwhile', async () => {
    for (const seed of upTo(4)) {
      const random = createRandom(seed);
      const house = await openThreadHouse(store);
      const threadIds = [await open(house), await open(house), await open(house)];
      const stop = new AbortController();
      const given: (ThreadMessage & { threadId: string })[] = [];
      // Two calls at a time, as of a client that calls tools side by side.
      const waiter = async () => {
        for (;;) {
          const answer = good(
            await house.threads.wait('c', {
              until: { kind: 'message' },
              threadId: null,
              limitMs: 1_000,
              signal: stop.signal,
              run: 'r',
            }),
          );
          if (!answer.came) return;
          given.push(...answer.page.messages.map((message) => ({ ...message, threadId: answer.page.thread.threadId })));
        }
      };
      const waits = [waiter(), waiter()];
      let sent = 0;
      for (const i of upTo(25)) {
        const threadId = threadIds[Math.floor(random() * 3)] ?? '';
        const from = AGENTS[Math.floor(random() * 3)] ?? 'a';
        const sending = send(house, from, threadId, `m${i}`);
        if (random() < 0.4) await sending;
        if (from !== 'c') sent += 1;
      }
      await expect.poll(() => given.length).toBe(sent);
      stop.abort();
      await Promise.all(waits);
      for (const threadId of threadIds) {
        const said = good(await house.threads.read(PERSON, threadId, PAGE)).messages.filter(({ from }) => from !== 'c');
        const mine = given.filter((message) => message.threadId === threadId).map(({ messageId }) => messageId);
        expect(mine, `seed ${seed}`).toEqual(said.map(({ messageId }) => messageId));
      }
      expect(house.timers.waiting()).toEqual([]);
    }
  });
});
