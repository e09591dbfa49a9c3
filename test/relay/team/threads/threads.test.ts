import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import { PERSON } from '../../../../src/shared/domain/threads.ts';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import { createStorePlace, USUAL_STORES, type StorePlace } from '../../../support/stores.ts';
import { good, openThreadHouse } from '../../../support/threads.ts';

const HARD_TEXT = 'NUL \u0000 lone \ud800 \udfff line\u2028"\\ 🪺 </message>';
const PAGE = { before: null, limit: 50, run: null };
const LIST = { before: null, limit: 50, closedToo: true };

describe.each(USUAL_STORES)('threads on %s', (kind) => {
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

  async function withThread(by = 'a', participantRefs: readonly string[] = ['b']) {
    const house = await openThreadHouse(store);
    const { thread } = good(await house.threads.create(by, { title: 'Plans', participantRefs }));
    const say = async (from: string, text: string, mentionRefs: readonly string[] = []) =>
      good(await house.threads.send(from, thread.threadId, { text, mentionRefs, clientId: null }));
    const read = async (reader: string) =>
      good(await house.threads.read(reader, thread.threadId, PAGE)).messages.map(({ text }) => text);
    return { ...house, threadId: thread.threadId, thread, say, read };
  }

  describe('making one', () => {
    it('puts whoever makes it into it, with those it names by id, name or seat, each once', async () => {
      const { thread, told, changes } = await withThread('a', ['Bo', 'b', 'seat 3', '@Ada']);
      expect(thread).toMatchObject({
        title: 'Plans',
        createdBy: 'a',
        participants: ['a', 'b', 'c'],
        messages: 0,
        closed: null,
      });
      expect(told).toEqual(
        ['b', 'c'].map((agentId) => ({
          hook: 'added',
          threadId: thread.threadId,
          title: 'Plans',
          agentId,
          by: 'a',
          times: 1,
        })),
      );
      expect(changes()).toBe(1);
    });

    it('lets the person make one without being in it', async () => {
      const { thread, told } = await withThread(PERSON, ['a']);
      expect(thread).toMatchObject({ createdBy: PERSON, participants: ['a'] });
      expect(told).toMatchObject([{ hook: 'added', agentId: 'a', by: PERSON }]);
    });

    it('refuses whoever is not known or is retired, by name, and one with nobody to talk with', async () => {
      const { threads, told, changes } = await openThreadHouse(store);
      for (const name of ['Nobody', 'Ria', 'r', PERSON]) {
        const answer = await threads.create('a', { title: 'x', participantRefs: ['b', name] });
        expect(answer).toMatchObject({ ok: false, reason: 'unknown-agent' });
        expect(answer.ok || answer.detail).toContain(name === 'r' ? 'Ria' : name);
      }
      expect(await threads.create('a', { title: 'x', participantRefs: ['a'] })).toMatchObject({
        ok: false,
        reason: 'nobody',
      });
      expect([told, changes(), (await threads.list(PERSON, LIST)).threads]).toEqual([[], 0, []]);
    });
  });

  describe('who may do what', () => {
    it('lets only those who are in it read it and write in it, and the person everywhere', async () => {
      const { threads, threadId, say, read } = await withThread();
      await say('a', 'one');
      await say('b', 'two');
      await say(PERSON, 'three');
      for (const reader of ['a', 'b', PERSON]) expect(await read(reader)).toEqual(['one', 'two', 'three']);
      const outside = [
        threads.read('c', threadId, PAGE),
        threads.send('c', threadId, { text: 'x', mentionRefs: [], clientId: null }),
        threads.add('c', threadId, 'c'),
        threads.remove('c', threadId, 'a'),
        threads.close('c', threadId, ''),
      ];
      for (const answer of await Promise.all(outside)) expect(answer).toMatchObject({ ok: false, reason: 'not-in-it' });
      expect((await threads.list('c', LIST)).threads).toEqual([]);
      expect(good(await threads.read('a', threadId, PAGE)).thread).toMatchObject({
        participants: ['a', 'b'],
        messages: 3,
        closed: null,
      });
    });

    it('says where there is no such thread', async () => {
      const { threads } = await openThreadHouse(store);
      const answers = [
        threads.read(PERSON, 'none', PAGE),
        threads.send('a', 'none', { text: 'x', mentionRefs: [], clientId: null }),
        threads.add('a', 'none', 'b'),
        threads.remove(PERSON, 'none', 'b'),
        threads.close('a', 'none', ''),
      ];
      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: false, reason: 'no-thread' });
    });

    it('keeps the threads of two homes apart', async () => {
      const { threadId } = await withThread();
      const other = await openThreadHouse(store);
      expect(await other.threads.read(PERSON, threadId, PAGE)).toMatchObject({ ok: false, reason: 'no-thread' });
      expect((await other.threads.list(PERSON, LIST)).threads).toEqual([]);
    });
  });

  describe('coming and going', () => {
    it('gives a new participant the history', async () => {
      const { threads, threadId, say, read, told } = await withThread();
      await say('a', 'before');
      const { thread } = good(await threads.add('b', threadId, 'Cleo'));
      expect(thread.participants).toEqual(['a', 'b', 'c']);
      expect(await read('c')).toEqual(['before']);
      expect(told.at(-1)).toEqual({ hook: 'added', threadId, title: 'Plans', agentId: 'c', by: 'b', times: 1 });
      await say('c', 'hello');
    });

    it('adds a present member without an effect', async () => {
      const { threads, threadId, told, changes } = await withThread();
      expect(good(await threads.add('a', threadId, 'b')).thread.participants).toEqual(['a', 'b']);
      expect([told.length, changes()]).toEqual([1, 1]);
    });

    it('takes somebody out, who reads and writes no more, and knows it again when it comes back', async () => {
      const { threads, threadId, say, read, told } = await withThread('a', ['b', 'c']);
      await say('b', 'while here');
      expect(good(await threads.remove('a', threadId, 'Bo')).thread.participants).toEqual(['a', 'c']);
      expect(await threads.read('b', threadId, PAGE)).toMatchObject({ ok: false, reason: 'not-in-it' });
      expect(await threads.send('b', threadId, { text: 'x', mentionRefs: [], clientId: null })).toMatchObject({
        ok: false,
        reason: 'not-in-it',
      });
      await say('c', 'meanwhile');
      good(await threads.add('c', threadId, 'b'));
      expect(told.at(-1)).toMatchObject({ hook: 'added', agentId: 'b', by: 'c', times: 2 });
      expect(await read('b')).toEqual(['while here', 'meanwhile']);
    });

    it('lets an agent leave, and lets whoever is retired be taken out', async () => {
      const { threads, threadId, directory } = await withThread('a', ['b', 'c']);
      good(await threads.remove('b', threadId, 'b'));
      await directory.set({
        agents: (await directory.all()).map((agent) => ({ ...agent, retired: agent.retired || agent.agentId === 'c' })),
      });
      expect(good(await threads.remove('a', threadId, 'c')).thread.participants).toEqual(['a']);
    });

    it('refuses to take out somebody who is not in it, and to add somebody who is retired', async () => {
      const { threads, threadId } = await withThread();
      const answer = await threads.remove('a', threadId, 'Cleo');
      expect(answer).toMatchObject({ ok: false, reason: 'not-in-it' });
      expect(answer.ok || answer.detail).toContain('Cleo');
      expect(await threads.remove('a', threadId, 'Nobody')).toMatchObject({ ok: false, reason: 'not-in-it' });
      expect(await threads.add('a', threadId, 'Ria')).toMatchObject({ ok: false, reason: 'unknown-agent' });
    });

    it('says when an agent is taken out of its last open thread, and only then', async () => {
      const { threads, threadId, told } = await withThread();
      const second = good(await threads.create('a', { title: 'More', participantRefs: ['b'] })).thread.threadId;
      const lasts = () => told.filter(({ hook }) => hook === 'leftLast');
      good(await threads.remove('a', threadId, 'b'));
      expect(lasts()).toEqual([]);
      good(await threads.remove('a', second, 'b'));
      expect(lasts()).toEqual([{ hook: 'leftLast', agentId: 'b', event: 'removed_from_last_thread' }]);
      good(await threads.add('a', second, 'b'));
      good(await threads.remove('b', second, 'b'));
      expect(lasts()).toHaveLength(2);
    });

    it('says whose last thread was closed, for each who was in it', async () => {
      const { threads, threadId, told } = await withThread('a', ['b', 'c']);
      const second = good(await threads.create('b', { title: 'More', participantRefs: ['c'] })).thread.threadId;
      const lasts = () => told.flatMap((item) => (item.hook === 'leftLast' ? [`${item.agentId} ${item.event}`] : []));
      good(await threads.close('a', threadId, ''));
      expect(lasts()).toEqual(['a last_thread_closed']);
      good(await threads.close('b', second, ''));
      expect(lasts()).toEqual(['a last_thread_closed', 'b last_thread_closed', 'c last_thread_closed']);
    });
  });

  describe('mentions', () => {
    it('notifies each mentioned member once, in order, after the message; the sender learns the outcome', async () => {
      const { threads, threadId, told, say } = await withThread('a', ['b', 'c']);
      const sent = await say('a', 'look', ['Cleo', 'b', 'seat 3']);
      expect(sent.message).toMatchObject({ sequence: 1, from: 'a', text: 'look', mentions: ['c', 'b'] });
      expect(sent.notes).toEqual(['c was asked for.', 'b was asked for.']);
      const mention = {
        hook: 'mentioned',
        threadId,
        title: 'Plans',
        by: 'a',
        messageId: sent.message.messageId,
        text: 'look',
      };
      expect(told.slice(2)).toEqual([
        { ...mention, agentId: 'c' },
        { ...mention, agentId: 'b' },
      ]);
      expect((await say(PERSON, 'you too', ['a'])).notes).toHaveLength(1);
      expect(good(await threads.read('a', threadId, PAGE)).messages.map(({ mentions }) => mentions)).toEqual([
        ['c', 'b'],
        ['a'],
      ]);
    });

    it('mentions members that the words name, and treats other names as text', async () => {
      const { threads, threadId, told, say } = await withThread('a', ['b', 'c']);
      const sent = await say('a', '@Cleo, look: @Ada and @Dara say `@b`. @nobody', ['b']);
      expect(sent.message.mentions).toEqual(['b', 'c']);
      expect(told.slice(2).map(({ agentId }) => agentId)).toEqual(['b', 'c']);
      expect((await say(PERSON, 'And @cleo once more.')).message.mentions).toEqual(['c']);
      expect(good(await threads.read('c', threadId, PAGE)).messages).toHaveLength(2);
    });

    it('refuses mentions of oneself, outsiders, unknown or retired agents by name, and sends nothing', async () => {
      const { threads, threadId, told, directory } = await withThread('a', ['b']);
      const cases = [
        ['Ada', 'bad-mention', 'Ada is you'],
        ['c', 'bad-mention', 'Cleo is not in this thread'],
        ['Nobody', 'unknown-agent', 'Nobody'],
        ['Ria', 'unknown-agent', 'Ria'],
      ] as const;
      for (const [name, reason, words] of cases) {
        const answer = await threads.send('a', threadId, { text: 'x', mentionRefs: ['b', name], clientId: null });
        expect(answer).toMatchObject({ ok: false, reason });
        expect(answer.ok || answer.detail).toContain(words);
      }
      await directory.set({
        agents: (await directory.all()).map((agent) => ({ ...agent, retired: agent.agentId === 'b' })),
      });
      expect(
        await threads.send(PERSON, threadId, { text: 'x', mentionRefs: ['b'], clientId: null }),
        'retired since it came',
      ).toMatchObject({ ok: false, reason: 'unknown-agent' });
      expect(good(await threads.read('a', threadId, PAGE)).messages).toEqual([]);
      expect(told).toHaveLength(1);
    });

    it('notifies again after a failure: by a repeat, or when the relay is back', async () => {
      const { threads, threadId, told, failure, again } = await withThread('a', ['b', 'c']);
      const send = (clientId: string) =>
        threads.send('a', threadId, { text: clientId, mentionRefs: ['b', 'c'], clientId });
      const mentions = () =>
        told.flatMap((item) => (item.hook === 'mentioned' ? [`${item.text} ${item.agentId}`] : []));
      failure.next = new Error('the inbox is gone');
      await expect(send('one')).rejects.toThrow('the inbox is gone');
      expect(good(await send('one')).message.sequence).toBe(1);
      expect(mentions()).toEqual(['one b', 'one c']);
      failure.next = new Error('the inbox is gone');
      await expect(send('two')).rejects.toThrow('the inbox is gone');
      failure.next = new Error('the inbox is gone');
      await expect(threads.create('a', { title: 'Lost', participantRefs: ['b'] })).rejects.toThrow('the inbox is gone');
      const later = await again();
      await later.threads.recover();
      await later.threads.recover();
      expect(later.told.map((item) => `${item.hook} ${item.agentId}`)).toEqual([
        'added b',
        'mentioned b',
        'mentioned c',
      ]);
    });
  });

  describe('saying something', () => {
    it('keeps every text exactly, and long ones whole', async () => {
      const { threads, threadId, say, read } = await withThread();
      const long = `${'x'.repeat(LIMITS.messageText - 1)}y`;
      const title = `T ${HARD_TEXT}`;
      await say('a', HARD_TEXT);
      await say('b', long);
      expect(await read(PERSON), 'a page that is long is shorter').toEqual([long]);
      expect(
        good(await threads.read(PERSON, threadId, { ...PAGE, before: 2 })).messages.map(({ text }) => text),
      ).toEqual([HARD_TEXT]);
      const made = good(await threads.create('a', { title, participantRefs: ['b'] })).thread;
      expect(good(await threads.close('a', made.threadId, HARD_TEXT)).thread).toMatchObject({
        title,
        closed: { by: 'a', summary: HARD_TEXT },
      });
    });

    it('makes a repeat with the same client id one message, also after the thread is closed', async () => {
      const { threads, threadId, told, changes, read } = await withThread();
      const send = () => threads.send('a', threadId, { text: 'once', mentionRefs: ['b'], clientId: 'c1' });
      const answers = await Promise.all([send(), send(), send()]);
      good(await threads.close('a', threadId, ''));
      const all = [...answers, await send()].map((answer) => good(answer).message);
      expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1);
      expect(await read('a')).toEqual(['once']);
      expect(told.filter(({ hook }) => hook === 'mentioned')).toHaveLength(1);
      expect(changes()).toBe(3);
    });

    it('refuses messages to a closed thread with its summary, and still shows it', async () => {
      const { threads, threadId, say, read } = await withThread();
      await say('a', 'before');
      const { thread } = good(await threads.close('b', threadId, 'We agreed.'));
      expect(thread.closed).toMatchObject({ by: 'b', summary: 'We agreed.' });
      const writes = [
        threads.send('a', threadId, { text: 'x', mentionRefs: [], clientId: null }),
        threads.send(PERSON, threadId, { text: 'x', mentionRefs: [], clientId: null }),
        threads.add('a', threadId, 'c'),
        threads.remove('a', threadId, 'b'),
        threads.close('a', threadId, 'again'),
      ];
      for (const answer of await Promise.all(writes))
        expect(answer).toMatchObject({ ok: false, reason: 'closed', detail: expect.stringContaining('We agreed.') });
      expect(await read('a')).toEqual(['before']);
    });
  });

  describe('lists and pages', () => {
    it('lists an agent’s own threads and all of them for the person, the newest first, in pages', async () => {
      const { threads, threadId, say } = await withThread('a', ['b']);
      const others = [];
      for (const title of ['two', 'three'])
        others.push(good(await threads.create('b', { title, participantRefs: ['c'] })).thread.threadId);
      const [two = '', three = ''] = others;
      await say('a', 'the newest again');
      const ids = async (reader: string, page = {}) =>
        (await threads.list(reader, { ...LIST, ...page })).threads.map((thread) => thread.threadId);
      expect(await ids(PERSON)).toEqual([threadId, three, two]);
      expect(await ids('a')).toEqual([threadId]);
      expect(await ids('c')).toEqual([three, two]);
      good(await threads.close('c', two, ''));
      expect(await ids('c', { closedToo: false })).toEqual([three]);
      expect(await ids(PERSON)).toEqual([two, threadId, three]);
      const first = await threads.list(PERSON, { ...LIST, limit: 2 });
      expect([first.threads.length, first.more]).toEqual([2, true]);
      expect(await threads.list(PERSON, { ...LIST, limit: 2, before: threadId })).toMatchObject({
        threads: [{ threadId: three }],
        more: false,
      });
      expect(await ids(PERSON, { before: 'none' })).toEqual([]);
    });

    it('reads a thread in pages, from the newest back', async () => {
      const { threads, threadId, say } = await withThread();
      for (let i = 1; i <= 5; i++) await say('a', `m${i}`);
      const page = async (before: number | null, limit: number) => {
        const { messages, more } = good(await threads.read('b', threadId, { before, limit, run: null }));
        return { places: messages.map((message) => message.sequence), more };
      };
      expect(await page(null, 2)).toEqual({ places: [4, 5], more: true });
      expect(await page(4, 2)).toEqual({ places: [2, 3], more: true });
      expect(await page(2, 2)).toEqual({ places: [1], more: false });
      expect(await page(1, 2)).toEqual({ places: [], more: false });
      expect(await page(null, 5)).toEqual({ places: [1, 2, 3, 4, 5], more: false });
    });
  });
});
