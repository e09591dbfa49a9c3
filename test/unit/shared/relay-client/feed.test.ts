import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { searchEndpoints } from '../../../../src/shared/protocol/endpoints/threads.ts';
import { sessionEndpoints } from '../../../../src/shared/protocol/endpoints/session.ts';
import {
  createEventStream,
  createFeed,
  createRelayClient,
  RELAY_TIMES,
  type Cursor,
  type Feed,
} from '../../../../src/shared/relay-client/index.ts';
import type { Doc, QueuedMessageDoc } from '../../../../src/shared/protocol/documents.ts';
import type { EventOf, RoostEvent } from '../../../../src/shared/protocol/events.ts';
import type { WorkerNews } from '../../../../src/shared/protocol/worker.ts';
import { createManualTimers, type ManualTimers } from '../../../support/manual-timers.ts';
import { createSseRelay, listen, type Listening, type SseRelay } from '../../../support/sse-relay.ts';

const mind = { kind: 'rehearsal', leadModel: 'm', agentModel: 'm' } as const;
const started: RoostEvent = { kind: 'session-started', time: 1, sessionId: 's1', mind };
const ended: RoostEvent = { kind: 'session-ended', time: 2, sessionId: 's1', reason: 'ended' };
const answer = (messageId: string): RoostEvent => ({
  kind: 'answer-started',
  time: 3,
  messageId,
  agentId: 'a1',
  sessionId: 's1',
});
const text = (messageId: string, word: string): RoostEvent => ({ kind: 'text', messageId, text: word });
const message = (messageId: string, more: Partial<EventOf<'message'>> = {}): RoostEvent => ({
  kind: 'message',
  time: 4,
  messageId,
  sessionId: 's1',
  agentId: 'a1',
  author: 'a1',
  role: 'assistant',
  blocks: [{ kind: 'text', text: 'hello' }],
  status: 'complete',
  error: null,
  usage: null,
  clientId: null,
  replaces: null,
  waiting: false,
  ...more,
});
const queuedFor = (clientId: string, agentId: string): QueuedMessageDoc => ({
  _id: `queued-message:${clientId}`,
  schema: 1,
  at: '000000000000001-000000-page',
  type: 'queued-message',
  clientId,
  agentId,
  text: `for ${agentId}`,
  time: 1,
});

let relay: SseRelay;
let server: Listening;
let timers: ManualTimers;
let feed: Feed | null;
let stored: Doc[];
let cursors: Cursor[];
let news: WorkerNews[];
let troubles: (string | null)[];
let queued: QueuedMessageDoc[];
let refusal: Error | null;
/** Each storing waits for it. */
let slow: () => Promise<void>;
let read: string[];

const open = (cursor: Cursor | null = null, vacant = false, household: string | null = null) => {
  feed = createFeed({
    cursor,
    vacant,
    household,
    openStream: (from, listener) =>
      createEventStream({
        fetch,
        baseUrl: server.url,
        timers,
        random: () => 0,
        cursor: from,
        searches: true,
        listener,
        report: (error) => troubles.push(String(error)),
      }),
    search: (asked) => {
      read.push(asked.text);
      return Promise.resolve({ state: 'ready', passages: [], more: false });
    },
    client: createRelayClient({ ...sessionEndpoints, ...searchEndpoints }, { fetch, baseUrl: server.url }),
    async store(docs) {
      if (refusal) throw refusal;
      await slow();
      stored.push(...docs);
    },
    saveCursor(to) {
      cursors.push(to);
      return Promise.resolve();
    },
    queued: () => Promise.resolve(queued),
    attachment: () => Promise.resolve(null),
    timers,
    tell: (item) => news.push(item),
    onTrouble: (trouble) => troubles.push(trouble),
  });
  return feed;
};
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const until = (check: () => boolean) => vi.waitUntil(check, { timeout: 5_000, interval: 5 });
const isLive = () => feed?.link().kind === 'live';
const idsOf = (docs: readonly Doc[]) => docs.map(({ _id }) => _id);
/** Lets acknowledgements that are due be sent, until the last one is `upTo`. */
const acknowledged = (upTo: number) =>
  until(() => {
    timers.advance(RELAY_TIMES.ackDebounce);
    return relay.acks.at(-1) === upTo;
  });

beforeEach(async () => {
  relay = createSseRelay();
  server = await listen((request, response) => relay.handle(request, response));
  timers = createManualTimers();
  slow = () => Promise.resolve();
  [feed, stored, cursors, news, troubles, queued, read, refusal] = [null, [], [], [], [], [], [], null];
});

afterEach(async () => {
  feed?.close();
  await server.close();
});

describe('the feed', () => {
  it('passes events on, stores their documents and acknowledges what is stored', async () => {
    open();
    await until(isLive);
    relay.emit(started, answer('m1'), text('m1', 'hello'), message('m1'));
    await acknowledged(4);
    expect(idsOf(stored)).toEqual(['session:s1:start', 'message:m1']);
    expect(cursors.at(-1)).toEqual({ log: 'log-1', after: 4 });
    expect(news.filter((item) => item.news === 'event').map((item) => item.stored.id)).toEqual([1, 2, 3, 4]);
  });

  it('passes events on at once, even while nothing can be stored, and acknowledges none of them', async () => {
    refusal = new Error('the disk is full');
    open();
    await until(isLive);
    relay.emit(started, text('m1', 'word'));
    await until(() => news.filter((item) => item.news === 'event').length === 2 && troubles.length > 1);
    timers.advance(RELAY_TIMES.ackDebounce);
    expect(relay.acks).toEqual([]);
    expect(troubles.at(-1)).toContain('the disk is full');
    refusal = null;
    timers.advance(RELAY_TIMES.storeRetry);
    await acknowledged(2);
    expect(idsOf(stored)).toEqual(['session:s1:start']);
    expect(troubles.at(-1)).toBeNull();
  });

  it('goes on behind an event that it cannot read, says so, and acknowledges nothing from there on', async () => {
    open();
    await until(isLive);
    relay.emit(started);
    await acknowledged(1);
    relay.emit({ kind: 'text', messageId: 'm2' } as never, message('m3'));
    await until(() => idsOf(stored).includes('message:m3'));
    expect(isLive()).toBe(true);
    expect(troubles.at(-1)).toMatch(/cannot read what the relay sent/);
    timers.advance(RELAY_TIMES.ackDebounce);
    await new Promise<void>((resolve) => setTimeout(resolve, 50));
    expect(relay.acks).toEqual([1]);
    // It stays said, also where the line comes back.
    relay.cut();
    await until(() => !isLive());
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(isLive);
    expect(troubles.at(-1)).toMatch(/cannot read what the relay sent/);
  });

  it('delivers nothing to a household without agents, and all events from the first once it has one', async () => {
    relay.emit(started, message('m1'));
    const opened = open(null, true);
    await until(isLive);
    relay.emit(message('m2'));
    await until(() => opened.snapshot()?.upTo === 3);
    timers.advance(RELAY_TIMES.ackDebounce);
    await opened.stored();
    expect([idsOf(stored), relay.acks, news.filter((item) => item.news === 'event')]).toEqual([[], [], []]);
    opened.occupied();
    await acknowledged(3);
    expect(idsOf(stored)).toEqual(['session:s1:start', 'message:m1', 'message:m2']);
    opened.occupied();
    await until(isLive);
    expect(relay.cursors).toHaveLength(2);
  });

  it('says when what came until then is stored, however much comes after it', async () => {
    let goOn: () => void = () => undefined;
    slow = () => new Promise((resolve) => void (goOn = resolve));
    const opened = open();
    await until(isLive);
    relay.emit(started, message('m1'));
    await until(() => opened.snapshot()?.upTo === 2);
    let held: boolean | null = null;
    void opened.stored().then((all) => (held = all));
    timers.advance(60_000);
    await settled();
    expect([held, idsOf(stored)]).toEqual([null, []]);
    for (let n = 2; held === null && n < 20; n++) {
      relay.emit(message(`m${n}`));
      await until(() => opened.snapshot()?.upTo === n + 1);
      goOn();
      await settled();
    }
    expect(held).toBe(true);
    expect(idsOf(stored)).toContain('message:m1');
  });

  it('says at once that what came cannot be stored, and once it is', async () => {
    refusal = new Error('the disk is full');
    const opened = open();
    await until(isLive);
    relay.emit(started);
    await until(() => troubles.length > 1);
    expect(await opened.stored()).toBe(false);
    refusal = null;
    timers.advance(RELAY_TIMES.storeRetry);
    await until(() => stored.length > 0);
    expect(await opened.stored()).toBe(true);
  });

  it('answers what an agent looks for, from what is here; where nobody lives it says that it cannot', async () => {
    const asked = (searchId: string) =>
      relay.raw(
        `event: search\ndata: ${JSON.stringify({ searchId, agentId: 'a1', text: 'herons', conversation: true, threads: [], author: null, since: null, limit: 5 })}\n\n`,
      );
    const opened = open(null, true);
    await until(isLive);
    asked('s1');
    await until(() => relay.searched.length === 1);
    expect(relay.searched[0]).toMatchObject({ path: '/api/searches/s1', answer: { state: 'unavailable' } });
    opened.occupied();
    asked('s2');
    await until(() => relay.searched.length === 2);
    expect(relay.searched[1]).toMatchObject({ path: '/api/searches/s2', answer: { state: 'ready' } });
    expect(read).toEqual(['herons']);
  });

  it('whose relay cannot reach its database stays live, says so, and hands over what is queued once it can', async () => {
    relay.emit(started);
    const opened = open();
    await until(isLive);
    relay.raw('event: database\ndata: {"away":true}\n\n');
    await until(() => 'databaseAway' in opened.link());
    expect(opened.snapshot()?.session?.sessionId).toBe('s1');
    queued = [queuedFor('c1', 'a1')];
    relay.raw('event: database\ndata: {"away":false}\n\n');
    await until(() => relay.posted.length === 1);
    expect(opened.link()).toEqual({ kind: 'live' });
  });

  it('shows, stores and acknowledges nothing of another household, and all events of its own', async () => {
    relay.proven('h-ada');
    relay.emit(started, message('m1'));
    queued = [queuedFor('c1', 'a1')];
    const opened = open({ log: 'log-0', after: 7 }, false, 'h-ben');
    await until(() => opened.link().kind === 'elsewhere');
    relay.emit(message('m2'), ended, started);
    relay.raw('event: waiting\ndata: {"waiting":[]}\n\n');
    // It comes after those, and through the same line.
    relay.raw('event: snapshot\ndata: {}\n\n');
    await until(() => troubles.length > 0);
    timers.advance(RELAY_TIMES.ackDebounce);
    await opened.stored();
    expect(news.filter((item) => item.news !== 'link')).toEqual([]);
    expect([idsOf(stored), relay.acks, cursors, relay.posted, opened.snapshot()]).toEqual([[], [], [], [], null]);
    expect(news.flatMap((item) => (item.news === 'link' && item.link.kind === 'live' ? [item] : []))).toEqual([]);
    // It has joined that household.
    opened.belongs('h-ada');
    await acknowledged(5);
    expect(idsOf(stored)).toEqual([
      'session:s1:start',
      'message:m1',
      'message:m2',
      'session:s1:end',
      'session:s1:start',
    ]);
    expect(opened.link()).toEqual({ kind: 'live' });
    // Where its sign-in was moved to is told of a home of its own alone.
    relay.raw('event: over\ndata: {"reason":"moved"}\n\n');
    relay.proven('h-cem');
    await until(() => (timers.advance(RELAY_TIMES.backoffFirst), opened.link().kind === 'elsewhere'));
    expect(news.filter((item) => item.news === 'moved')).toEqual([]);
    relay.raw('event: over\ndata: {"reason":"moved"}\n\n');
    relay.proven('h-ada');
    await until(() => (timers.advance(RELAY_TIMES.backoffFirst), isLive()));
    expect(news.filter((item) => item.news === 'moved')).toHaveLength(1);
  });

  it('takes no more from a home that is proven to be another household’s while it listens', async () => {
    const opened = open(null, false, 'h-ben');
    await until(isLive);
    relay.emit(started);
    await acknowledged(1);
    relay.emit(message('m1'));
    relay.proven('h-ada');
    relay.emit(message('m2'));
    await until(() => opened.link().kind === 'elsewhere');
    relay.emit(message('m3'));
    await opened.stored();
    timers.advance(RELAY_TIMES.ackDebounce);
    expect(relay.acks).toEqual([1]);
    // Whose device it is, it may hear of later than whose home that is.
    opened.belongs(null);
    await acknowledged(4);
    expect(relay.cursors.at(-1)).toEqual({ after: '1', log: 'log-1' });
  });

  it('begins anew with another sign-in, live as it is', async () => {
    const opened = open();
    await until(isLive);
    relay.emit(started);
    await acknowledged(1);
    opened.restart();
    expect(opened.link()).toEqual({ kind: 'connecting' });
    await until(isLive);
    expect(relay.cursors.at(-1)).toEqual({ after: '1', log: 'log-1' });
    relay.emit(message('m1'));
    await acknowledged(2);
    expect(relay.cursors).toHaveLength(2);
  });

  it('acknowledges no further than the first word of an answer that is still open', async () => {
    open();
    await until(isLive);
    relay.emit(started, answer('m1'), text('m1', 'hel'), message('m0', { role: 'user', author: 'human' }));
    await acknowledged(1);
    expect(cursors.at(-1)).toEqual({ log: 'log-1', after: 1 });
    relay.emit(message('m1'));
    await acknowledged(5);
  });

  it('knows every word of an open answer, also one that began before this owner', async () => {
    const tool = (result: string | null): RoostEvent => ({
      kind: 'tool',
      messageId: 'm1',
      block: { kind: 'tool', toolUseId: 't1', name: 'write_soul', input: {}, result, isError: false },
    });
    relay.emit(
      started,
      answer('m1'),
      text('m1', 'one '),
      text('m1', 'two'),
      tool(null),
      tool('kept'),
      text('m1', 'three'),
    );
    const opened = open({ log: 'log-1', after: 1 });
    await until(isLive);
    expect(opened.answers()).toEqual([
      {
        messageId: 'm1',
        agentId: 'a1',
        startedAt: 3,
        blocks: [
          { kind: 'text', text: 'one two' },
          { kind: 'tool', toolUseId: 't1', name: 'write_soul', input: {}, result: 'kept', isError: false },
          { kind: 'text', text: 'three' },
        ],
      },
    ]);
    relay.emit(message('m1'));
    await until(() => opened.answers().length === 0);
  });

  it('keeps the snapshot up to date, and knows nothing of a session when the line is lost', async () => {
    const opened = open();
    await until(isLive);
    relay.emit(started, { kind: 'agent-awake', time: 5, agentId: 'a1', position: 0, sessionId: 's1' });
    await until(() => opened.snapshot()?.session?.awake.includes('a1') === true);
    relay.cut();
    await until(() => opened.link().kind === 'lost');
    expect(opened.snapshot()).toBeNull();
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(isLive);
    expect(opened.snapshot()?.session?.awake).toEqual(['a1']);
    expect(news.filter((item) => item.news === 'link').map((item) => item.link.kind)).toEqual([
      'connecting',
      'live',
      'lost',
      'live',
    ]);
  });

  it('hands over what was queued when a session starts, once each, the lead’s without an address', async () => {
    queued = [queuedFor('c1', 'a1'), queuedFor('c2', 'lead')];
    open();
    await until(isLive);
    expect(relay.posted).toEqual([]);
    relay.emit(started);
    await until(() => relay.posted.length === 2);
    relay.cut();
    await until(() => feed?.link().kind === 'lost');
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(isLive);
    queued = [...queued, queuedFor('c3', 'a1')];
    feed?.deliver();
    await until(() => relay.posted.length === 3);
    expect(relay.posted).toEqual([
      { text: 'for a1', clientId: 'c1', to: 'a1' },
      { text: 'for lead', clientId: 'c2' },
      { text: 'for a1', clientId: 'c3', to: 'a1' },
    ]);
  });

  it('tells which queued messages the relay refuses, until it takes them', async () => {
    queued = [queuedFor('c1', 'a1')];
    const refusals = () => news.flatMap((item) => (item.news === 'undelivered' ? [item.refusals] : []));
    const type = 'about:roost/too-large';
    relay.refuseMessages({ type, title: 'Too large', status: 413, detail: 'It is too large.' });
    const opened = open();
    await until(isLive);
    relay.emit(started);
    await until(() => refusals().length === 1);
    expect(refusals()).toEqual([[{ clientId: 'c1', message: 'It is too large.', type }]]);
    relay.refuseMessages(null);
    opened.deliver();
    await until(() => refusals().length === 2);
    expect(refusals().at(-1)).toEqual([]);
    expect(relay.posted).toHaveLength(1);
  });

  it('hands nothing over while no session runs', async () => {
    queued = [queuedFor('c1', 'a1')];
    relay.emit(started, ended);
    const opened = open({ log: 'log-1', after: 2 });
    await until(isLive);
    opened.deliver();
    await new Promise<void>((resolve) => setTimeout(resolve, 30));
    expect(relay.posted).toEqual([]);
  });

  it('begins anew with a relay whose log is another one', async () => {
    relay.emit(started, answer('m1'), text('m1', 'old'));
    const opened = open();
    await until(isLive);
    relay.replaceLog('log-2');
    relay.cut();
    relay.emit({ ...started, sessionId: 's2' });
    await until(() => opened.link().kind === 'lost');
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(isLive);
    expect(opened.answers()).toEqual([]);
    await until(() => {
      timers.advance(RELAY_TIMES.ackDebounce);
      return cursors.at(-1)?.log === 'log-2';
    });
    expect(idsOf(stored)).toContain('session:s2:start');
  });

  it('says when the relay cannot be understood, and that it is over', async () => {
    open();
    await until(isLive);
    relay.raw('event: snapshot\ndata: {}\n\n');
    await until(() => feed?.link().kind === 'lost');
    expect(troubles.at(-1)).toContain('Reload the page');
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(isLive);
    expect(troubles.at(-1)).toBeNull();
  });
});
