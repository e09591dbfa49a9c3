/**
 * Something between the page and the relay that lets calls through and holds the event stream back.
 */
import { createServer, type Server } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createEventStream, RELAY_TIMES, type StreamItem } from '../../../src/shared/relay-client/index.ts';
import { createManualTimers } from '../../support/manual-timers.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { headersOf } from '../../support/sign-in.ts';

let relay: OpenRelay;
let page: Browser;
beforeAll(async () => {
  relay = await openTestRelay();
  page = await relay.signIn();
  await page.fetch('/api/home', { method: 'POST', json: { beside: false } });
});
afterAll(() => relay.close());

/**
 * `header`: of an answer without end not even the header passes; `body`: nothing but the header.
 */
type Holds = 'header' | 'body' | 'nothing';

/** Passes an answer on as a whole, once it is there. */
async function startProxy(holds: () => Holds): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const left = new AbortController();
    response.on('close', () => left.abort());
    const pass = async () => {
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' && !['host', 'connection'].includes(name) ? [[name, value]] : [],
      );
      const answer = await fetch(new URL(request.url ?? '/', relay.url), {
        headers: Object.fromEntries(headers) as Record<string, string>,
        signal: left.signal,
      });
      const type = answer.headers.get('content-type') ?? '';
      if (holds() !== 'header') response.writeHead(answer.status, { 'content-type': type }).flushHeaders();
      if (holds() === 'nothing') {
        const reader = answer.body?.getReader();
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
          response.write(part.value);
        return response.end();
      }
      const body = Buffer.from(await answer.arrayBuffer());
      if (!response.headersSent) response.writeHead(answer.status, { 'content-type': type });
      return response.end(body);
    };
    pass().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const until = (check: () => boolean) => vi.waitUntil(check, { timeout: 10_000, interval: 5 });

async function follow(holds: () => Holds) {
  const proxy = await startProxy(holds);
  const timers = createManualTimers();
  const items: StreamItem[] = [];
  const headers = headersOf(await page.signIn());
  const stream = createEventStream({
    fetch: (url, init) => fetch(url, { ...init, headers: { ...headers, accept: 'text/event-stream' } }),
    baseUrl: proxy.url,
    timers,
    random: () => 0,
    cursor: null,
    listener: (item) => items.push(item),
    report: (error) => {
      throw error;
    },
  });
  onTestFinished(async () => {
    stream.close();
    proxy.server.closeAllConnections();
    await new Promise((resolve) => proxy.server.close(resolve));
  });
  const kinds = () => items.map(({ kind }) => kind);
  const lives = () => items.flatMap((item) => (item.kind === 'live' ? [item.held ?? false] : []));
  return { timers, items, kinds, lives };
}
const sessions = (items: readonly StreamItem[]) =>
  items.flatMap((item) => (item.kind === 'event' && /^session-/.test(item.stored.event.kind) ? [item.stored.id] : []));
async function oneSession(): Promise<void> {
  const start = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } };
  await page.fetch('/api/sessions', { method: 'POST', json: start });
  await page.fetch('/api/messages', { method: 'POST', json: { text: 'Hello.', clientId: randomUUID() } });
  await page.fetch('/api/sessions/current', { method: 'DELETE' });
}

it.each(['header', 'body'] as const)(
  'polls when no more than the %s of the stream arrives, and misses nothing',
  async (holds) => {
    const line = await follow(() => holds);
    await until(() => line.timers.waiting().some((ms) => ms === RELAY_TIMES.connect));
    // The header of a held body has to be there before its first byte is waited for.
    if (holds === 'body') await new Promise((resolve) => setTimeout(resolve, 200));
    line.timers.advance(RELAY_TIMES.connect);
    await until(() => line.lives().length === 1);
    expect(line.lives()).toEqual([true]);
    const before = sessions(line.items).length;
    await oneSession();
    await until(() => line.timers.waiting().includes(RELAY_TIMES.poll));
    line.timers.advance(RELAY_TIMES.poll);
    await until(() => sessions(line.items).length === before + 2);
    const ids = line.items.flatMap((item) => (item.kind === 'event' ? [item.stored.id] : []));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(line.kinds().filter((kind) => kind === 'lost')).toHaveLength(1);
  },
);

it('a stream that passes is used, and is not called held', async () => {
  const line = await follow(() => 'nothing');
  await until(() => line.lives().length === 1);
  expect(line.lives()).toEqual([false]);
  expect(line.kinds()).not.toContain('lost');
});

it('uses the stream again once it arrives whole', async () => {
  let holds: Holds = 'header';
  const line = await follow(() => holds);
  await until(() => line.timers.waiting().includes(RELAY_TIMES.connect));
  line.timers.advance(RELAY_TIMES.connect);
  await until(() => line.lives().length === 1);
  holds = 'nothing';
  for (let poll = 0; poll <= RELAY_TIMES.pollsBeforeStream && line.lives().at(-1) !== false; poll++) {
    await until(() => line.timers.waiting().includes(RELAY_TIMES.poll) || line.lives().at(-1) === false);
    line.timers.advance(RELAY_TIMES.poll);
  }
  await until(() => line.lives().at(-1) === false);
});
