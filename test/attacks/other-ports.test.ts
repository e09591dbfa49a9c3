/**
 * Another program of this machine: browsers send it the cookie of every port of the host. What it
 * was sent must be worth nothing to it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { protocolsOf } from '../../src/shared/relay-client/page-key.ts';
import { problemSchema } from '../../src/shared/protocol/http.ts';
import { browserOf, openTestRelay, type OpenRelay } from '../support/open-relay.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { keyIn, openLink } from '../support/sign-in.ts';

const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } };
/** What such a program may try, with a body that fits. */
const CALLS = [
  ['POST', '/api/sessions', START],
  ['POST', '/api/messages', { messageId: 'm1', to: 'lead', text: 'Send me all you have.', start: null }],
  ['GET', '/api/events', null],
  ['GET', '/api/team', null],
  ['GET', '/api/rehearsal', null],
  ['GET', '/api/credentials', null],
  ['POST', '/api/credentials', { agentId: null, label: 'mine', readsSoul: true }],
  ['GET', '/v1/config', null],
  ['PUT', '/v1/config', {}],
  ['DELETE', '/api/sessions/current', null],
] as const;

let relay: TestRelay;
let open: OpenRelay;
let cookie: string;
let key: string;
beforeAll(async () => {
  open = await openTestRelay();
  relay = await startRelay();
  // As every browser sends it to 127.0.0.1, whatever the port (RFC 6265, 8.5).
  ({ cookie, key } = await relay.signIn());
});
afterAll(async () => {
  await open.close();
  expect((await relay.stop()).code).toBe(0);
});

const own = () => ({ host: `127.0.0.1:${relay.port}`, cookie });
const disguises = (): Record<string, string>[] => [
  {},
  {
    origin: relay.url,
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'cors',
    'sec-fetch-dest': 'empty',
    referer: `${relay.url}/`,
  },
];

describe('A program at another port that was sent the cookie', () => {
  it.each(CALLS)('cannot %s %s', async (method, path, json) => {
    for (const disguise of disguises()) {
      const answer = await fetch(new URL(path, relay.url), {
        method,
        headers: { cookie, ...disguise, ...(json === null ? {} : { 'content-type': 'application/json' }) },
        ...(json === null ? {} : { body: JSON.stringify(json) }),
      });
      await answer.body?.cancel();
      expect(answer.status).toBe(401);
    }
  });

  it('refuses it the socket, whatever protocol it offers', async () => {
    for (const protocols of [
      [],
      ['roost'],
      [PAGE_KEY.protocol, PAGE_KEY.offered],
      protocolsOf('a'.repeat(43)),
      protocolsOf(cookie.split('=')[1] ?? ''),
    ]) {
      const socket = new WebSocket(`${relay.url.replace('http', 'ws')}/api/sync/socket`, protocols, {
        headers: { cookie, origin: relay.url },
      });
      const answered = await new Promise<number>((resolve) => {
        socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
        socket.on('error', () => resolve(0));
        socket.on('open', () => resolve(101));
      });
      socket.terminate();
      expect(answered).toBe(401);
    }
  });

  it('answers it like anybody else, and hands out no page key', async () => {
    const health = await rawRequest({ port: relay.port, path: '/api/health', headers: own() });
    expect(Object.keys(JSON.parse(health.text) as object).sort()).toEqual(['clock', 'database', 'status', 'version']);
    for (const path of [
      '/',
      '/enter',
      '/enter?code=',
      `/enter?code=${'a'.repeat(43)}`,
      new URL(relay.link).pathname + new URL(relay.link).search,
      '/index.html',
      '/service-worker.js',
    ]) {
      const { text, headers } = await rawRequest({
        port: relay.port,
        path,
        headers: { ...own(), accept: 'text/html' },
      });
      expect(keyIn(text), path).toBeNull();
      expect(`${text}${JSON.stringify(headers)}`, path).not.toContain(key);
    }
  });
});

describe('A browser whose page has lost its key', () => {
  it('says what to do without a page key, still serves the page, and renews the key by a new link', async () => {
    const before = await relay.fetch('/api/sessions', { method: 'POST', json: START });
    expect(before.status).toBe(201);
    const refused = await fetch(new URL('/api/events', relay.url), { headers: { cookie } });
    expect(problemSchema.parse(await refused.json())).toMatchObject({
      type: 'about:roost/no-page-key',
      detail: expect.stringContaining('Press Enter in the terminal'),
    });
    expect((await fetch(relay.url, { headers: { cookie, accept: 'text/html' } })).status).not.toBe(401);
    const link = await open.link();
    const first = await openLink(link);
    const other = browserOf(open.url, first);
    expect((await other.fetch('/api/sessions', { method: 'POST', json: START })).status).toBe(201);
    const again = await openLink(await open.link(), first);
    expect(again.cookie).toBe(first.cookie);
    expect((await other.fetch('/api/health')).ok).toBe(true);
    expect(await (await other.fetch('/api/health')).json(), 'the key before opens nothing').not.toHaveProperty(
      'sessionActive',
    );
    expect(
      await (await browserOf(open.url, again).fetch('/api/health')).json(),
      'the household is the same',
    ).toMatchObject({ sessionActive: true });
    await expect(openLink(link, again), 'a used link hands nothing over').rejects.toThrow('let nobody in');
  });

  it('refuses the page key of another sign-in', async () => {
    const [one, two] = [await openLink(await open.link()), await openLink(await open.link())];
    for (const mixed of [
      { cookie: one.cookie, key: two.key },
      { cookie: two.cookie, key: one.key },
    ])
      expect((await browserOf(open.url, mixed).fetch('/api/rehearsal')).status).toBe(401);
  });
});
