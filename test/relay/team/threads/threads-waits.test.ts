import { describe, expect, it } from 'vitest';
import type { Threads } from '../../../../server/team/threads/index.ts';
import { PERSON } from '../../../../src/shared/domain/threads.ts';
import { storeFor } from '../../../support/store-for.ts';
import { USUAL_STORES } from '../../../support/stores.ts';
import { good, openThreadHouse } from '../../../support/threads.ts';

type Wait = Parameters<Threads['wait']>[1];
const MESSAGE = { kind: 'message' } as const;
const MENTION = { kind: 'mention' } as const;
const FROM_A = { kind: 'from', who: 'a', name: 'Ada' } as const;
const FROM_PERSON = { kind: 'from', who: PERSON, name: 'The human' } as const;

describe.each(USUAL_STORES)('waiting in threads on %s', (kind) => {
  const store = storeFor(kind);

  /** A thread of "a", "b" and "c", in which "b" waits. */
  async function withThread() {
    const house = await openThreadHouse(store());
    const { threads, timers } = house;
    const open = async (by = 'a') =>
      good(await threads.create(by, { title: 'Plans', participantRefs: ['a', 'b', 'c'] })).thread.threadId;
    const threadId = await open();
    const say = async (from: string, text: string, mentionRefs: readonly string[] = [], into = threadId) =>
      good(await threads.send(from, into, { text, mentionRefs, clientId: null })).message;
    const answerTo = (options: Partial<Wait>) =>
      threads.wait('b', {
        until: MESSAGE,
        threadId: null,
        limitMs: 1_000,
        signal: new AbortController().signal,
        run: 'run',
        ...options,
      });
    /** What the wait gave: the texts, or why it gave nothing. */
    const wait = async (options: Partial<Wait> = {}) => {
      const answer = await answerTo(options);
      if (!answer.ok) return answer.reason;
      return answer.came ? answer.page.messages.map(({ text }) => text) : answer.why;
    };
    /** As `wait`, after it has looked and found nothing. */
    const waitBegun = async (options: Partial<Wait> = {}) => {
      const before = timers.waiting().length;
      const waiting = wait(options);
      await expect.poll(() => timers.waiting().length).toBeGreaterThan(before);
      // Reads are done in the order in which they were asked for: after this one, the look is over.
      await threads.read(PERSON, threadId, { before: null, limit: 1, run: null });
      return { waiting };
    };
    return { ...house, threadId, open, say, answerTo, wait, waitBegun };
  }

  it('ends at once where something is there already, and gives all that was not given yet, once', async () => {
    const { say, wait, timers } = await withThread();
    await say('a', 'one');
    await say('b', 'my own');
    await say('c', 'two');
    expect(await wait()).toEqual(['one', 'two']);
    expect(await wait({ limitMs: 0 })).toBe('late');
    await say('a', 'three');
    expect(await wait({ limitMs: 0 })).toEqual(['three']);
    expect(timers.waiting()).toEqual([]);
  });

  it('ends when something is said while it waits', async () => {
    const { say, waitBegun } = await withThread();
    const { waiting } = await waitBegun();
    await say('b', 'my own');
    await say('a', 'hello');
    expect(await waiting).toEqual(['hello']);
  });

  it('misses nothing that is said between two waits, also when the relay was started again in between', async () => {
    const { say, wait, again } = await withThread();
    await say('a', 'one');
    expect(await wait()).toEqual(['one']);
    await say('a', 'two');
    const { threads } = await again();
    const answer = good(
      await threads.wait('b', {
        until: MESSAGE,
        threadId: null,
        limitMs: 0,
        signal: new AbortController().signal,
        run: 'r',
      }),
    );
    expect(answer.came && answer.page.messages.map(({ text }) => text)).toEqual(['two']);
  });

  it('ends when its time is over, not before, and when whoever waits gives up', async () => {
    const { say, waitBegun, wait, timers } = await withThread();
    const ended: unknown[] = [];
    const { waiting } = await waitBegun();
    void waiting.then((how) => ended.push(how));
    timers.advance(999);
    await say('b', 'my own');
    expect(ended).toEqual([]);
    timers.advance(1);
    expect(await waiting).toBe('late');

    const gone = new AbortController();
    const { waiting: second } = await waitBegun({ signal: gone.signal });
    gone.abort();
    expect(await second).toBe('aborted');
    await say('a', 'for the next');
    expect(await wait({ signal: gone.signal }), 'nothing is given to somebody who has gone').toBe('aborted');
    expect(await wait()).toEqual(['for the next']);
    expect(timers.waiting()).toEqual([]);
  });

  it('waits for a mention, and returns earlier messages with it', async () => {
    const { say, waitBegun, wait } = await withThread();
    await say('a', 'not for you');
    const { waiting } = await waitBegun({ until: MENTION });
    await say('a', 'for c', ['c']);
    await say('c', 'b, what do you think?', ['b']);
    expect(await waiting).toEqual(['not for you', 'for c', 'b, what do you think?']);
    expect(await wait({ until: MENTION, limitMs: 0 })).toBe('late');
  });

  it('waits until the named agent or the person writes', async () => {
    const { say, waitBegun, wait } = await withThread();
    const { waiting } = await waitBegun({ until: FROM_A });
    await say('c', 'not me');
    await say('a', 'me');
    expect(await waiting).toEqual(['not me', 'me']);
    await say('a', 'again');
    const { waiting: person } = await waitBegun({ until: FROM_PERSON });
    await say(PERSON, 'it is I');
    expect(await person).toEqual(['again', 'it is I']);
    expect(await wait({ until: FROM_A, limitMs: 0 })).toBe('late');
  });

  it('waits in one thread alone, or without a thread for any, oldest first', async () => {
    const { say, waitBegun, wait, threadId, open } = await withThread();
    const other = await open('c');
    const { waiting } = await waitBegun({ threadId });
    await say('a', 'elsewhere', [], other);
    await say('a', 'here');
    expect(await waiting).toEqual(['here']);
    await say('a', 'here again');
    expect(await wait()).toEqual(['elsewhere']);
    expect(await wait()).toEqual(['here again']);
  });

  it('ends for somebody who is added while it waits: the history is new to it', async () => {
    const { threads, say, threadId, waitBegun } = await withThread();
    good(await threads.remove('a', threadId, 'b'));
    await say('a', 'while away');
    const { waiting } = await waitBegun();
    good(await threads.add('a', threadId, 'b'));
    expect(await waiting).toEqual(['while away']);
  });

  it('ends with a refusal when nothing can arrive any more', async () => {
    const { threads, say, wait, answerTo, waitBegun, threadId, open } = await withThread();
    const { waiting } = await waitBegun({ threadId });
    await say('a', 'last words');
    good(await threads.close('a', threadId, 'Done.'));
    expect(await waiting).toEqual(['last words']);
    expect(await answerTo({ threadId })).toMatchObject({
      ok: false,
      reason: 'closed',
      detail: expect.stringContaining('Done.'),
    });

    const second = await open();
    const { waiting: closed } = await waitBegun({ threadId: second });
    good(await threads.close('a', second, ''));
    expect(await closed).toBe('closed');

    const third = await open();
    const { waiting: removed } = await waitBegun({ threadId: third });
    good(await threads.remove('a', third, 'b'));
    expect(await removed).toBe('not-in-it');
    expect(await wait({ threadId: 'none' })).toBe('no-thread');

    const fourth = await open();
    good(await threads.remove('a', fourth, 'a'));
    expect(await answerTo({ threadId: fourth, until: FROM_A })).toMatchObject({
      ok: false,
      reason: 'not-in-it',
      detail: expect.stringContaining('Ada'),
    });
  });

  it('gives what is unread in a thread that was closed meanwhile', async () => {
    const { threads, say, wait, threadId } = await withThread();
    await say('a', 'one');
    good(await threads.close('a', threadId, ''));
    expect(await wait({ threadId })).toEqual(['one']);
    expect(await wait({ limitMs: 0 })).toBe('late');
  });

  it('does not return read messages again, and keeps unread ones', async () => {
    const { threads, say, wait, threadId } = await withThread();
    const read = async (limit: number, before: number | null = null) =>
      good(await threads.read('b', threadId, { before, limit, run: 'r' })).messages.map(({ text }) => text);
    for (const text of ['one', 'two', 'three']) await say('a', text);
    expect(await read(1), 'what stands before it was not read').toEqual(['three']);
    expect(await read(2, 3)).toEqual(['one', 'two']);
    expect(await wait()).toEqual(['three']);
    await say('a', 'four');
    expect(await read(50)).toHaveLength(4);
    expect(await wait({ limitMs: 0 })).toBe('late');
  });

  it('says which mentions were read in the thread itself, after they were told', async () => {
    const { threads, say, wait, waitBegun, threadId, told } = await withThread();
    const { waiting } = await waitBegun({ until: MENTION });
    await say('c', 'nothing');
    const first = await say('a', 'b?', ['b', 'c']);
    await waiting;
    const ofB = () => told.filter((item) => item.agentId === 'b' && item.hook !== 'added');
    expect(ofB()).toMatchObject([
      { hook: 'mentioned' },
      { hook: 'mentionsRead', threadId, agentId: 'b', messageIds: [first.messageId], run: 'run' },
    ]);
    const second = await say('a', 'b!', ['b']);
    good(await threads.read('b', threadId, { before: null, limit: 1, run: 'another' }));
    good(await threads.read(PERSON, threadId, { before: null, limit: 1, run: null }));
    expect(ofB().slice(2)).toMatchObject([
      { hook: 'mentioned' },
      { hook: 'mentionsRead', messageIds: [second.messageId], run: 'another' },
    ]);
    expect(await wait({ limitMs: 0 })).toBe('late');
  });
});
