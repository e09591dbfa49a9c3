import { connect, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEventLog, type OpenEventLog } from '../../../server/log/index.ts';
import { listen, type HttpServer } from '../../../server/http/listen.ts';
import { createSearches } from '../../../server/team/searches/index.ts';
import type { Store } from '../../../server/store/index.ts';
import { createStreams, type Streams } from '../../../server/households/stream.ts';
import { snapshotSchema, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import { helloSchema } from '../../../src/shared/protocol/stream.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { searchAskedSchema } from '../../../src/shared/protocol/search.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { openEventSource, type OpenStream, type StreamMessage } from '../../support/event-source.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';
import { createStorePlace, USUAL_STORES, type StorePlace } from '../../support/stores.ts';

const words = (text: string): RoostEvent => ({ kind: 'text', messageId: 'm', text });
const idsOf = (messages: readonly StreamMessage[]) =>
  messages.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
const upTo = (last: number) => (messages: readonly StreamMessage[]) => messages.some(({ id }) => id === String(last));
const hasSnapshot = (messages: readonly StreamMessage[]) => messages.some(({ event }) => event === 'snapshot');
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

const BUFFER_BYTES = 64 * 1024;
const HEARTBEAT_MS = 50;
/** So many of these are more than the buffers of both ends of a connection hold. */
const LARGE = 'x'.repeat(200_000);
const MORE_THAN_FITS = 100;

describe.each(USUAL_STORES)('event streams over the log on %s', (kind) => {
  let place: StorePlace;
  let store: Store;
  let log: OpenEventLog;
  let streams: Streams;
  let http: HttpServer;
  const failures: unknown[] = [];
  const searches = createSearches({ timers: realTimers, newId: () => 'search-1' });
  const fail = (error: unknown) => void failures.push(error);

  beforeAll(async () => {
    place = await createStorePlace(kind);
    store = await place.open();
    log = await openEventLog({
      db: store.db,
      home: 'streams',
      now: Date.now,
      newId: () => 'the log',
      onListenerError: fail,
    });
    streams = createStreams({
      log,
      host: { waiting: () => ({ waiting: [] }), onWaiting: () => () => undefined },
      searches,
      version: '1',
      bufferBytes: BUFFER_BYTES,
      heartbeatMs: HEARTBEAT_MS,
      onError: fail,
    });
    http = await listen({ host: '127.0.0.1', port: 0 });
    http.serve(
      getRequestListener((request, { outgoing }) => {
        const query = new URL(request.url).searchParams;
        return new Response(
          streams.open(
            { after: Number(query.get('after')), log: query.get('log'), searches: query.has('searches') },
            () => outgoing.destroy(),
          ),
        );
      }),
    );
  });
  afterAll(async () => {
    streams.close();
    await http.close();
    await log.close();
    await store.close();
    await place.remove();
    expect(failures).toEqual([]);
  });
  beforeEach(() => expect.poll(() => streams.count()).toBe(0));
  const open = (query: string) =>
    openEventSource((signal) => fetch(`http://127.0.0.1:${http.port}/${query}`, { signal }));

  it('gives a reader that comes while others write every event once, in order, around one snapshot', async () => {
    let writing = true;
    const writer = (async () => {
      while (writing) await log.append([words('a'), words('b')]);
    })();
    const readers: OpenStream[] = [];
    for (let i = 0; i < 10; i++) readers.push(await open('?after=0'));
    await Promise.all(readers.map((reader) => reader.until(hasSnapshot)));
    writing = false;
    await writer;
    const [last] = await log.append([words('last')]);
    for (const reader of readers) {
      const messages = await reader.until(upTo(last?.id ?? 0));
      expect(messages[0]).toEqual({
        id: undefined,
        event: 'hello',
        data: { log: 'the log', version: '1', household: null },
      });
      expect(idsOf(messages)).toEqual(range(1, last?.id ?? 0));
      const at = messages.findIndex(({ event }) => event === 'snapshot');
      const snapshot = snapshotSchema.parse(messages[at]?.data);
      expect(idsOf(messages.slice(0, at))).toEqual(range(1, snapshot.upTo));
      reader.close();
    }
  });

  it('asks what agents look for of pages that said they answer, and of no other', async () => {
    const asked = {
      agentId: 'a',
      text: 'herons',
      conversation: true,
      threads: [],
      author: null,
      since: null,
      limit: 5,
    };
    const { signal } = new AbortController();
    const [page, older] = await Promise.all([open('?searches=1'), open('')]);
    await Promise.all([page, older].map((each) => each.until(hasSnapshot)));
    const answer = { state: 'ready', passages: [], more: false } as const;
    const asking = searches.ask(asked, signal);
    const [{ data } = { data: null }] = (await page.until((all) => all.some(({ event }) => event === 'search'))).filter(
      ({ event }) => event === 'search',
    );
    expect(searchAskedSchema.parse(data)).toEqual({ ...asked, searchId: 'search-1' });
    expect(searches.answer('search-1', 'page', answer)).toBe(true);
    expect(await asking).toEqual({ ok: true, answer });
    const [after] = await log.append([words('after')]);
    expect((await older.until(upTo(after?.id ?? 0))).some(({ event }) => event === 'search')).toBe(false);
    for (const each of [page, older]) each.close();
    await expect.poll(() => streams.count()).toBe(0);
    expect(await searches.ask(asked, signal)).toEqual({ ok: false, why: 'no-page' });
  });

  it('cuts a reader that does not read what is new, and lets it resume where it was', async () => {
    const from = log.head();
    const socket: Socket = connect(http.port, '127.0.0.1');
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => (said += text));
    socket.write(`GET /?after=${from} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await expect.poll(() => said).toContain('event: snapshot');
    expect(streams.count()).toBe(1);
    socket.pause();
    for (let i = 0; i < MORE_THAN_FITS && streams.count() > 0; i++) await log.append([words(LARGE)]);
    expect(streams.count()).toBe(0);

    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.resume();
    await closed;
    const whole = said.slice(0, said.lastIndexOf('\n\n') + 2);
    const got = [...whole.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const cursor = got.at(-1) ?? from;
    expect(cursor).toBeLessThan(log.head());
    const again = await open(`?after=${cursor}`);
    const rest = idsOf(await again.until(upTo(log.head())));
    again.close();
    expect([...got, ...rest]).toEqual(range(from + 1, log.head()));
  });

  it('cuts a reader that does not read what it missed', async () => {
    await Promise.all(Array.from({ length: MORE_THAN_FITS }, () => log.append([words(LARGE)])));
    const socket = connect(http.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.pause();
    socket.write('GET /?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await expect.poll(() => streams.count()).toBe(1);
    await expect.poll(() => streams.count(), { timeout: 20_000 }).toBe(0);
    socket.destroy();
  });

  it('lets one event through that is larger than the buffer', async () => {
    const reader = await open(`?after=${log.head()}`);
    await reader.until(hasSnapshot);
    const [stored] = await log.append([words('y'.repeat(4 * BUFFER_BYTES))]);
    const messages = await reader.until(upTo(stored?.id ?? 0));
    expect(messages.at(-1)?.data).toEqual(stored?.event);
    reader.close();
  });

  it('says that it lives', async () => {
    const reader = await open(`?after=${log.head()}`);
    await expect.poll(() => reader.comments.length).toBeGreaterThan(2);
    reader.close();
    await expect.poll(() => streams.count()).toBe(0);
  });
});

describe('the event stream of a relay', () => {
  let relay: TestRelay;
  let log: string;
  let head: number;
  beforeAll(async () => {
    relay = await startRelay({ args: ['--streams', '4', '--rehearsal', '{"delayMs":0,"wordMs":0}'] });
    const started = await relay.fetch('/api/sessions', {
      method: 'POST',
      json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am.', transcript: null } },
    });
    expect(started.status).toBe(201);
    await relay.fetch('/api/sessions/current', { method: 'DELETE' });
    const stream = await open();
    const messages = await stream.until(hasSnapshot);
    stream.close();
    log = helloSchema.parse(messages[0]?.data).log;
    head = snapshotSchema.parse(messages.at(-1)?.data).upTo;
    expect(head).toBeGreaterThanOrEqual(2);
  });
  afterAll(() => relay.stop());
  const open = (query = '', headers: Record<string, string> = {}) =>
    openEventSource((signal) => relay.fetch(`/api/events${query}`, { signal, headers }));
  async function missed(query: string, headers?: Record<string, string>) {
    const stream = await open(query, headers);
    const messages = await stream.until(hasSnapshot);
    stream.close();
    return idsOf(messages);
  }

  it('sends an event stream that nobody stores, changes or compresses', async () => {
    const stream = await open('', { 'accept-encoding': 'gzip' });
    const { headers } = stream.response;
    stream.close();
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('content-encoding')).toBeNull();
  });

  it('begins after the cursor, which the header names before the query', async () => {
    expect(await missed('')).toEqual(range(1, head));
    expect(await missed('?after=1')).toEqual(range(2, head));
    expect(await missed(`?after=${head}&log=${log}`)).toEqual([]);
    expect(await missed(`?after=${head}`, { 'last-event-id': '1' })).toEqual(range(2, head));
    expect(await missed('?after=', { 'last-event-id': '' })).toEqual(range(1, head));
  });

  it('begins anew where the cursor is of another log, or of one that was put back from a copy', async () => {
    expect(await missed(`?after=${head}&log=another`)).toEqual(range(1, head));
    expect(await missed(`?after=${head + 1}&log=${log}`)).toEqual(range(1, head));
  });

  it('refuses a cursor that is none', async () => {
    for (const [query, headers, field] of [
      ['?after=x', {}, 'after'],
      ['?after=-1', {}, 'after'],
      ['?after=1e3', {}, 'after'],
      ['?after=99999999999999999999', {}, 'after'],
      ['', { 'last-event-id': 'x' }, 'Last-Event-ID'],
    ] as const) {
      const response = await relay.fetch(`/api/events${query}`, { headers });
      expect(response.status).toBe(400);
      expect(problemSchema.parse(await response.json()).errors?.[0]?.field).toBe(field);
    }
  });

  it('limits the number of open streams', async () => {
    const four = await Promise.all([1, 2, 3, 4].map(() => open()));
    const fifth = await relay.fetch('/api/events');
    expect(fifth.status).toBe(503);
    expect(fifth.headers.get('retry-after')).toBe('5');
    expect(problemSchema.parse(await fifth.json()).type).toBe('about:roost/too-many-streams');
    for (const stream of four) stream.close();
    const statusNow = async () => {
      const stream = await open();
      stream.close();
      return stream.response.status;
    };
    await expect.poll(statusNow).toBe(200);
  });

  it('brings what happens while it is open', async () => {
    const stream = await open(`?after=${head}`);
    await stream.until(hasSnapshot);
    await relay.fetch('/api/sessions', {
      method: 'POST',
      json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am.', transcript: null } },
    });
    const messages = await stream.until((all) => all.some(({ event }) => event === 'session-started'));
    expect(idsOf(messages)[0]).toBe(head + 1);
    stream.close();
  });

  it('ends with the session’s end when the relay is told to end', async () => {
    const stream = await open();
    await stream.until(hasSnapshot);
    const { code } = await relay.kill('SIGTERM');
    expect(code).toBe(0);
    expect(await stream.ended).toBeNull();
    expect(stream.messages.at(-1)).toMatchObject({ event: 'session-ended', data: { reason: 'shutdown' } });
  });
});
