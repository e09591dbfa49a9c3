import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createEventStream,
  RELAY_TIMES,
  type Cursor,
  type EventStream,
  type EventStreamDeps,
  type StreamItem,
} from '../../../../src/shared/relay-client/index.ts';
import type { RoostEvent } from '../../../../src/shared/protocol/events.ts';
import { type StreamEvent, type StreamState, transition } from '../../../../src/shared/relay-client/event-stream.ts';
import { createManualTimers, type ManualTimers } from '../../../support/manual-timers.ts';
import { createSseRelay, listen, type Listening, type SseRelay } from '../../../support/sse-relay.ts';

const text = (word: string): RoostEvent => ({ kind: 'text', messageId: 'm1', text: word });
const wordsOf = (items: readonly StreamItem[]) =>
  items.flatMap((item) => (item.kind === 'event' && item.stored.event.kind === 'text' ? [item.stored.event.text] : []));
const kindsOf = (items: readonly StreamItem[]) => items.map(({ kind }) => kind);

let relay: SseRelay;
let server: Listening;
let timers: ManualTimers;
let items: StreamItem[];
let stream: EventStream | null;
let reported: unknown[];

const open = (cursor: Cursor | null = null) => {
  return openWith({ cursor });
};
const openWith = (some: Partial<EventStreamDeps> = {}) => {
  stream = createEventStream({
    fetch,
    baseUrl: server.url,
    timers,
    random: () => 0,
    cursor: null,
    listener: (item) => items.push(item),
    report: (error) => reported.push(error),
    ...some,
  });
  return stream;
};
/** As Safari does: a body that can be read, and not iterated. */
const fetchOfSafari: typeof fetch = async (...args) => {
  const response = await fetch(...args);
  if (response.body) Object.defineProperty(response.body, Symbol.asyncIterator, { value: undefined });
  return response;
};
const throwsOn = (kind: StreamItem['kind']) => (item: StreamItem) => {
  if (item.kind === kind) throw new Error('broken');
};
const until = (check: () => boolean) => vi.waitUntil(check, { timeout: 5_000, interval: 5 });
const lives = () => items.filter(({ kind }) => kind === 'live').length;

beforeEach(async () => {
  relay = createSseRelay();
  server = await listen((request, response) => relay.handle(request, response));
  timers = createManualTimers();
  items = [];
  reported = [];
  stream = null;
});

afterEach(async () => {
  stream?.close();
  await server.close();
});

describe('the event stream', () => {
  it('passes what was missed, then the snapshot, then what is new', async () => {
    relay.emit(text('one'), text('two'));
    open();
    await until(() => lives() === 1);
    relay.emit(text('three'));
    await until(() => wordsOf(items).length === 3);
    expect(kindsOf(items)).toEqual(['connecting', 'new-log', 'home', 'event', 'event', 'live', 'event']);
    expect(wordsOf(items)).toEqual(['one', 'two', 'three']);
  });

  it('asks for what comes after its cursor, and names the log it is of', async () => {
    relay.emit(text('one'), text('two'));
    open({ log: 'log-1', after: 1 });
    await until(() => lives() === 1);
    expect(relay.cursors).toEqual([{ after: '1', log: 'log-1' }]);
    expect(wordsOf(items)).toEqual(['two']);
    expect(kindsOf(items)).not.toContain('new-log');
  });

  it('resumes after a cut, with every word once and in order', async () => {
    open();
    await until(() => lives() === 1);
    relay.emit(text('one'));
    await until(() => wordsOf(items).length === 1);
    relay.cut();
    await until(() => kindsOf(items).includes('lost'));
    relay.emit(text('two'));
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    relay.emit(text('three'));
    await until(() => wordsOf(items).length === 3);
    expect(wordsOf(items)).toEqual(['one', 'two', 'three']);
    expect(items.find(({ kind }) => kind === 'lost')).toEqual({ kind: 'lost', reason: 'unreachable' });
  });

  it('says that the relay cannot reach its database: on a line that stands, and where it is refused for that', async () => {
    open();
    await until(() => lives() === 1);
    relay.raw('event: database\ndata: {"away":true}\n\n');
    await until(() => kindsOf(items).includes('database'));
    expect(items.at(-1)).toEqual({ kind: 'database', away: true });
    stream?.close();
    const refusing = await listen((_request, response) =>
      response
        .writeHead(503, { 'content-type': 'application/problem+json' })
        .end('{"type":"about:roost/database-away","title":"Not ready","status":503,"detail":"It is away."}'),
    );
    openWith({ baseUrl: refusing.url });
    await until(() => kindsOf(items).includes('lost'));
    expect(items.at(-1)).toEqual({ kind: 'lost', reason: 'database' });
    await refusing.close();
  });

  it('passes an event once that is sent twice', async () => {
    relay.stutter(true);
    relay.emit(text('one'), text('two'));
    open();
    await until(() => lives() === 1);
    relay.emit(text('three'));
    await until(() => wordsOf(items).length === 3);
    relay.raw(': end\n\n');
    expect(wordsOf(items)).toEqual(['one', 'two', 'three']);
  });

  it('puts an event together that comes in pieces, in the middle of a character too', async () => {
    open();
    await until(() => lives() === 1);
    const bytes = Buffer.from(`id: 1\nevent: text\ndata: ${JSON.stringify(text('grüße 🪺'))}\n\n`);
    const pieces = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: hello\ndata: {"log":"l","version":"1"}\n\n');
      void (async () => {
        for (const byte of bytes) {
          response.write(Buffer.of(byte));
          await new Promise<void>((resolve) => setTimeout(resolve, 1));
        }
      })();
    });
    const heard: StreamItem[] = [];
    const other = createEventStream({
      fetch,
      baseUrl: pieces.url,
      timers,
      random: () => 0,
      cursor: null,
      listener: (item) => heard.push(item),
      report: (error) => reported.push(error),
    });
    await until(() => wordsOf(heard).length === 1);
    other.close();
    await pieces.close();
    expect(wordsOf(heard)).toEqual(['grüße 🪺']);
  });

  it('begins anew where the log is another one', async () => {
    relay.emit(text('new'));
    open({ log: 'log-of-old', after: 7 });
    await until(() => lives() === 1);
    expect(kindsOf(items)).toEqual(['connecting', 'new-log', 'home', 'event', 'live']);
    expect(wordsOf(items)).toEqual(['new']);
  });

  it('begins anew where the log was put back to before its cursor', async () => {
    relay.emit(text('one'), text('two'), text('three'));
    open();
    await until(() => lives() === 1);
    relay.putBack(1);
    relay.cut();
    await until(() => kindsOf(items).includes('lost'));
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    relay.emit(text('other two'));
    await until(() => wordsOf(items).includes('other two'));
    expect(wordsOf(items)).toEqual(['one', 'two', 'three', 'one', 'other two']);
  });

  it('begins anew where the log was put back to nothing', async () => {
    relay.emit(text('one'));
    open();
    await until(() => lives() === 1);
    relay.putBack(0);
    relay.cut();
    await until(() => kindsOf(items).includes('lost'));
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    relay.emit(text('again'));
    await until(() => wordsOf(items).includes('again'));
    expect(wordsOf(items)).toEqual(['one', 'again']);
  });

  it('takes silence past twice the heartbeat for a loss, and a heartbeat for a sign of life', async () => {
    open();
    await until(() => lives() === 1);
    // Its first byte has come: until then another watch runs, which is shorter.
    await until(() => timers.waiting().includes(RELAY_TIMES.silence));
    timers.advance(RELAY_TIMES.silence - 1);
    relay.raw(': still here\n\n');
    // The watch is wound up anew, to its full length, by the comment.
    await until(() => timers.waiting().includes(RELAY_TIMES.silence));
    timers.advance(RELAY_TIMES.silence - 1);
    expect(kindsOf(items)).not.toContain('lost');
    timers.advance(1);
    await until(() => kindsOf(items).includes('lost'));
    // What it asks for then may have been answered already.
    expect(items.find(({ kind }) => kind === 'lost')).toEqual({ kind: 'lost', reason: 'silent' });
  });

  it('says when this browser is not let in, and goes on by itself when it is', async () => {
    relay.refuse(401);
    open();
    await until(() => kindsOf(items).includes('locked-out'));
    relay.refuse(null);
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 1);
  });

  it('tells the relay’s last word on a line from a line that was lost', async () => {
    open();
    await until(() => lives() === 1);
    relay.raw('event: over\ndata: {"reason":"moved"}\n\n');
    await until(() => kindsOf(items).includes('moved'));
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    relay.raw('event: over\ndata: {"reason":"signed-out"}\n\n');
    await until(() => kindsOf(items).includes('locked-out'));
    expect(kindsOf(items)).not.toContain('lost');
  });

  it('waits longer with each failure, up to a bound, and starts over once it was live', async () => {
    relay.refuse(500);
    open();
    const pauses: number[] = [];
    for (let n = 1; n <= 8; n++) {
      await until(() => items.filter(({ kind }) => kind === 'lost').length === n);
      pauses.push(timers.waiting()[0] ?? 0);
      if (n === 8) relay.refuse(null);
      timers.advance(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 2_500, 2_500, 2_500, 2_500]);
    await until(() => lives() === 1);
    relay.cut();
    await until(() => items.at(-1)?.kind === 'lost');
    expect(timers.waiting()).toEqual([250]);
  });

  it('tries again at once when it is told to', async () => {
    relay.refuse(500);
    const opened = open();
    await until(() => kindsOf(items).includes('lost'));
    relay.refuse(null);
    opened.reconnect();
    await until(() => lives() === 1);
    expect(kindsOf(items)).toEqual(['connecting', 'lost', 'connecting', 'new-log', 'home', 'live']);
  });

  it('sets an event aside that it cannot read, and goes on behind it', async () => {
    relay.emit(text('one'));
    open();
    await until(() => lives() === 1);
    relay.raw('id: 2\nevent: text\ndata: {"kind":"from the future"}\n\n');
    relay.raw('id: 3\nevent: text\ndata: {"kind":"text", torn\n\n');
    relay.raw(`id: 4\nevent: text\ndata: ${JSON.stringify(text('four'))}\n\n`);
    await until(() => wordsOf(items).length === 2);
    expect(items.filter(({ kind }) => kind === 'set-aside')).toMatchObject([{ id: 2 }, { id: 3 }]);
    expect(wordsOf(items)).toEqual(['one', 'four']);
    expect(lives()).toBe(1);
  });

  it('stops where it cannot read what the relay says of the line, and asks again', async () => {
    open();
    await until(() => lives() === 1);
    relay.raw('event: snapshot\ndata: {}\n\n');
    await until(() => kindsOf(items).includes('unreadable'));
    relay.emit(text('one'));
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    expect(wordsOf(items)).toEqual(['one']);
  });

  it('reads a body that cannot be iterated, as Safari’s', async () => {
    openWith({ fetch: fetchOfSafari });
    relay.emit(text('one'));
    await until(() => lives() === 1);
    relay.emit(text('two'));
    await until(() => wordsOf(items).length === 2);
    expect(reported).toEqual([]);
  });

  it('tells an error of its own from one of the line’s, and passes the event again', async () => {
    let fails = true;
    openWith({
      listener(item) {
        if (item.kind === 'event' && fails) throw new TypeError('undefined is not a function');
        items.push(item);
      },
    });
    await until(() => lives() === 1);
    relay.emit(text('one'));
    await until(() => kindsOf(items).includes('failed'));
    expect(items.at(-1)).toEqual({ kind: 'failed', detail: 'undefined is not a function' });
    expect(reported).toEqual([new TypeError('undefined is not a function')]);
    fails = false;
    timers.advance(RELAY_TIMES.backoffFirst);
    await until(() => lives() === 2);
    expect(wordsOf(items)).toEqual(['one']);
    expect(kindsOf(items)).not.toContain('lost');
  });

  it.each<[string, (open: ServerResponse) => void, Partial<EventStreamDeps>]>([
    ['what cannot be read', (response) => response.write('event: hello\ndata: {}\n\n'), {}],
    [
      'an error of its own',
      (response) => response.write('event: hello\ndata: {"log":"l","version":"1"}\n\n'),
      { listener: throwsOn('new-log') },
    ],
    ['an answer that is no stream', (response) => response.writeHead(503).write('a moment'), {}],
    ['an answer that lets nobody in', (response) => response.writeHead(401).write('no'), {}],
  ])('leaves no connection open after %s', async (_, answer, some) => {
    let [open, opened] = [0, 0];
    const odd = await listen((_request, response) => {
      open += 1;
      opened += 1;
      response.on('close', () => (open -= 1));
      answer(response);
    });
    // Node closes by itself what nobody holds any more, sooner or later; browsers do not.
    let asked: AbortSignal | null | undefined;
    openWith({
      baseUrl: odd.url,
      fetch: (url, init) => fetchOfSafari(url, { ...init, signal: (asked = init?.signal ?? null) }),
      ...some,
    });
    await until(() => opened === 1 && timers.waiting()[0] === RELAY_TIMES.backoffFirst / 2);
    expect(asked?.aborted).toBe(true);
    await until(() => open === 0);
    await odd.close();
  });

  it('says nothing any more once it is closed', async () => {
    const opened = open();
    await until(() => lives() === 1);
    opened.close();
    relay.emit(text('late'));
    relay.cut();
    timers.advance(60_000);
    await new Promise<void>((resolve) => setTimeout(resolve, 50));
    expect(kindsOf(items)).toEqual(['connecting', 'new-log', 'home', 'live']);
  });
});

describe('transition', () => {
  const run = (state: StreamState, ...events: readonly StreamEvent[]) => events.reduce(transition, state);
  const start: StreamState = { kind: 'connecting', failures: 0 };
  const snapshot: StreamEvent = { kind: 'snapshot' };
  const polled: StreamEvent = { kind: 'polled' };
  const due: StreamEvent = { kind: 'due' };
  const late: StreamEvent = { kind: 'ended', late: true };
  const broken: StreamEvent = { kind: 'ended', late: false };

  it('counts attempts that failed in a row, until one is live', () => {
    expect(run(start, broken, due, broken)).toEqual({ kind: 'waiting', failures: 1 });
    expect(run(start, broken, due, broken, due, snapshot, broken)).toEqual({ kind: 'waiting', failures: 0 });
  });
  it('polls where the stream is late and a poll is not, and tries the stream now and then', () => {
    expect(run(start, late)).toEqual({ kind: 'probing', failures: 0 });
    expect(run(start, late, late)).toEqual({ kind: 'waiting', failures: 0 });
    const polling = run(start, late, snapshot, polled);
    expect(polling).toEqual({ kind: 'between-polls', polls: 1 });
    let state = polling;
    for (let n = 0; n < RELAY_TIMES.pollsBeforeStream; n++) state = run(state, due, polled);
    expect(run(state, due)).toEqual({ kind: 'trying-stream' });
    expect(run(state, due, snapshot)).toEqual({ kind: 'live' });
    expect(run(state, due, late)).toEqual({ kind: 'probing', failures: 0 });
  });
  it('reconnects only where it waits for its next attempt, and restarts anywhere but after its end', () => {
    const states: readonly StreamState[] = [
      start,
      { kind: 'live' },
      { kind: 'probing', failures: 2 },
      { kind: 'polling', polls: 1 },
      { kind: 'between-polls', polls: 1 },
      { kind: 'trying-stream' },
    ];
    for (const state of states) {
      expect(transition(state, { kind: 'reconnect' })).toBe(state);
      expect(transition(state, { kind: 'restart' })).toEqual(start);
      expect(run(state, { kind: 'close' }, { kind: 'restart' })).toEqual({ kind: 'closed' });
    }
    expect(transition({ kind: 'waiting', failures: 4 }, { kind: 'reconnect' })).toEqual(start);
  });
  it('ignores what no longer applies', () => {
    const live: StreamState = { kind: 'live' };
    for (const event of [snapshot, polled, due]) expect(transition(live, event)).toBe(live);
  });
});
