/**
 * The page key in a real browser: a page that has lost it is told what to do, and comes back with
 * everything; and another program of this machine, which browsers send the cookie of every port,
 * has nothing of it.
 */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket as RawSocket } from 'ws';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { createGuest, type Guest, STILL } from '../support/chromium.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

const WORDS = 'Remember the bridge we left half drawn.';

let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  relay = await startRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'], terminal: true });
  profile = createGuest();
  visitor = await createVisitor(await profile.open(STILL), relay.link);
  await visitor.begin();
  await visitor.hatch(1);
  await visitor.open(1);
  await visitor.ask(WORDS);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
});

/** A program at another port, which keeps what it is sent. */
async function startNeighbour(): Promise<{ url: string; cookies: string[]; server: Server }> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.cookie !== undefined) cookies.push(request.headers.cookie);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Neighbour</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The neighbour has no port');
  return { url: `http://${new URL(relay.url).hostname}:${address.port}`, cookies, server };
}

it('gives another program of this machine nothing for the cookie, from its page or by itself', async () => {
  const neighbour = await startNeighbour();
  try {
    const page = await visitor.page.context().newPage();
    await page.goto(neighbour.url);
    const held = await visitor.page.context().cookies(relay.url);
    const cookie = neighbour.cookies[0] ?? '';
    // Otherwise nothing is tried here.
    expect(cookie).toContain(held.find(({ name }) => name.startsWith('roost_'))?.value);

    // Its page, with the browser's own cookie and whatever lies in its own storage.
    const heard = await page.evaluate(async (url) => {
      const ask = async (path: string, init: RequestInit = {}) => {
        try {
          const answer = await fetch(`${url}${path}`, { credentials: 'include', ...init });
          return answer.status;
        } catch {
          return 'nothing';
        }
      };
      const opened = (begin: (end: (what: string) => void) => void) =>
        new Promise<string>((resolve) => begin((what) => resolve(what)));
      return {
        kept: Object.keys(localStorage),
        team: await ask('/api/team'),
        events: await ask('/api/events'),
        config: await ask('/v1/config'),
        say: await ask('/api/messages', { method: 'POST', body: '{}' }),
        stream: await opened((end) => {
          const source = new EventSource(`${url}/api/events`, { withCredentials: true });
          source.addEventListener('open', () => end('open'));
          source.addEventListener('error', () => end('refused'));
        }),
        socket: await opened((end) => {
          const socket = new WebSocket(`${url.replace('http', 'ws')}/api/sync/socket`, ['roost']);
          socket.addEventListener('open', () => end('open'));
          socket.addEventListener('error', () => end('refused'));
        }),
      };
    }, relay.url);
    expect(heard).toEqual({
      kept: [],
      team: 'nothing',
      events: 'nothing',
      config: 'nothing',
      say: 'nothing',
      stream: 'refused',
      socket: 'refused',
    });

    // The program, with every header that the relay's own page would send, and with those of
    // somebody who opens a page.
    const own = {
      origin: relay.url,
      referer: `${relay.url}/`,
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    };
    const opens = {
      accept: 'text/html,application/xhtml+xml',
      'sec-fetch-site': 'none',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const calls = Object.values<Endpoint>(ENDPOINTS).filter(
      ({ path, access }) => /^\/(api|v1)\//.test(path) && access !== 'anyone',
    );
    expect(calls.length).toBeGreaterThan(30);
    const answered = [];
    for (const { method, path } of calls)
      for (const disguise of [own, opens]) {
        const { status } = await rawRequest({
          port: relay.port,
          method,
          path: path.replaceAll(/\{\w+\}/g, 'lead'),
          headers: { host: new URL(relay.url).host, cookie, 'content-type': 'application/json', ...disguise },
          ...(method === 'GET' ? {} : { body: '{}' }),
        });
        if (status !== 401 && status !== 403) answered.push(`${method} ${path}: ${status}`);
      }
    expect(answered).toEqual([]);
    for (const protocols of [[], [PAGE_KEY.protocol], [PAGE_KEY.protocol, `${PAGE_KEY.offered}${'a'.repeat(43)}`]]) {
      const socket = new RawSocket(`${relay.url.replace('http', 'ws')}/api/sync/socket`, protocols, {
        headers: { cookie, ...own },
      });
      const status = await new Promise<number>((resolve) => {
        socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
        socket.on('error', () => resolve(0));
        socket.on('open', () => resolve(101));
      });
      socket.terminate();
      expect(status).toBe(401);
    }
    // The page itself can be had by anybody, and holds no key for anybody.
    const { text } = await rawRequest({
      port: relay.port,
      path: '/',
      headers: { host: new URL(relay.url).host, cookie, ...opens },
    });
    expect(text).not.toContain('data-page-key');
    await page.close();
  } finally {
    neighbour.server.close();
    neighbour.server.closeAllConnections();
  }
  // It goes on as if nothing had been.
  expect(await visitor.ask('Are you there?')).not.toBe('');
});

it('says what to do without its page key, and restores everything by a new link', async () => {
  const { page } = visitor;
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  const told = page.getByRole('alert').filter({ hasText: 'This browser is not signed in' });
  await told.getByText(/Press Enter in the terminal where Roost runs, and open the link that it prints/).waitFor();
  await visitor.open(1);
  await visitor.untilRead(WORDS);

  await page.goto(await relay.newLink());
  await page.waitForURL((url) => !url.pathname.startsWith('/enter'));
  await visitor.untilSeats('it awake', ([first]) => first?.state === 'awake');
  await told.waitFor({ state: 'detached' });
  await visitor.open(1);
  await visitor.untilRead(WORDS);
  expect(await visitor.ask('And the river?')).not.toBe('');
  expect(visitor.complaints).toEqual([]);
});
