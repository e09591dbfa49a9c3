/**
 * Names that lead to a public address when they are looked up, and inside when they are connected;
 * and addresses in digits that were taken under another setting. Nothing of it is connected. The
 * name server is hostile, all else is real.
 */
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mcpServerSchema } from '../../src/shared/protocol/mcp.ts';
import { connectionSchema } from '../../src/shared/protocol/models.ts';
import { createServedMind, type MindRequest } from '../../server/agents/minds/index.ts';
import { createGuardedAgent, createGuardedFetch, guardOf } from '../../server/platform/guarded-fetch.ts';
import { openPushers } from '../../server/notifications/index.ts';
import { createUpstream } from '../../server/agents/proxy/upstream.ts';
import { openWayOut } from '../../server/execution/sandbox/network.ts';
import { createWeb } from '../../server/execution/web/index.ts';
import { openHostileNames, type HostileNames } from '../support/hostile-names.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { createHome } from '../support/relay.ts';
import { startScriptedModel } from '../support/scripted-model.ts';

/** Of nobody; "public" as far as anybody can tell. */
const PUBLIC = '203.0.113.7';
/** Each leads to this machine where it is connected, and stands in a range of its own. */
const INSIDE = [['127.0.0.1'], ['0.0.0.0'], ['::1'], ['::ffff:127.0.0.1'], ['::'], ['::ffff:0.0.0.0']];

let names: HostileNames;
let trap: Server;
let port: number;
let caught = 0;
beforeAll(async () => {
  names = openHostileNames();
  trap = createServer((_request, response) => response.end('{}')).on('connection', () => (caught += 1));
  await new Promise<void>((resolve) => trap.listen(0, '::', resolve));
  ({ port } = trap.address() as AddressInfo);
});
afterEach(() => {
  expect(caught).toBe(0);
});
afterAll(() => {
  names.restore();
  trap.close();
});
const WORD: MindRequest = {
  ...{ priority: 'person', model: 'm', system: 's', tools: [], maxTokens: 16 },
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
};
const at = (name: string, path = '/') => `http://${name}:${port}${path}`;

describe('A name that leads inside at the second look', () => {
  it.each(INSIDE)('refuses %s for every connection of the relay', async (inside) => {
    const never = new AbortController().signal;
    const { fetch, close } = createGuardedFetch('public');
    names.lead('fetch.test', [inside]);
    await expect(fetch(at('fetch.test'))).rejects.toThrow();
    for (const protocol of ['messages', 'chat', 'responses', 'google'] as const) {
      names.lead(`${protocol}.test`, [inside]);
      const mind = createServedMind({
        protocol,
        key: 'k',
        baseUrl: at(`${protocol}.test`, '/v1'),
        fetch,
        queue: { breaks: 0 },
      });
      const answer = await mind.answer(WORD, { onText: () => undefined, signal: never });
      expect(answer).toMatchObject({ ok: false, error: { kind: 'unreachable' } });
    }
    await close();
    names.lead('proxy.test', [inside]);
    const upstream = createUpstream(at('proxy.test'), 1_000, createGuardedAgent(false, guardOf('public')));
    await expect(
      upstream.send({ method: 'GET', path: '/v1', headers: {}, body: null, signal: never }),
    ).rejects.toThrow();
    upstream.close();
    names.lead('page.test', [inside]);
    const web = createWeb({ addresses: 'public', version: '0' });
    expect(await web.read(at('page.test'), never)).toContain('could not be reached');
    await web.close();
    expect(['fetch.test', 'proxy.test', 'page.test'].map(names.asked)).toEqual([1, 1, 1]);
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '127.1', '0x7f000001'])(
    'and %s itself, in whatever digits',
    async (digits) => {
      const { fetch, close } = createGuardedFetch('public');
      await expect(fetch(at(digits))).rejects.toThrow();
      await close();
      const upstream = createUpstream(at(digits), 1_000, createGuardedAgent(false, guardOf('public')));
      const { signal } = new AbortController();
      await expect(upstream.send({ method: 'GET', path: '/v1', headers: {}, body: null, signal })).rejects.toThrow();
      upstream.close();
    },
  );

  it('among others that do not is left out, and they are connected', async () => {
    const other = createServer((_request, response) => response.end('here'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    names.lead('mixed.test', ['0.0.0.0', '127.0.0.1', '::']);
    const { fetch, close } = createGuardedFetch('any');
    const answer = await fetch(`http://mixed.test:${(other.address() as AddressInfo).port}/`);
    expect(await answer.text()).toBe('here');
    await close();
    other.close();
  });

  it('refuses it for push messages and for commands', async () => {
    const home = await createHome({ store: null });
    const pushers = await openPushers(`${home}/push.json`, { now: Date.now });
    const pusher = pushers.of('public');
    names.lead('push.test', ['127.0.0.1']);
    const keys = {
      p256dh: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
      auth: 'tBHItJI5svbpez7KI4CCXg',
    };
    const endpoint = `https://push.test:${port}/`;
    const payload = { key: 'k', title: 't', body: 'b', path: '/', over: false } as never;
    expect(
      await pusher.push({ endpoint, keys } as never, payload, 'mailto:a@example.org', new AbortController().signal),
    ).toEqual({ kind: 'again', afterMs: null });
    await pushers.close();
    await rm(home, { recursive: true, force: true });

    names.lead('command.test', ['0.0.0.0']);
    const out = await openWayOut('all', { addresses: 'public' });
    const line = connect(`${out.folder}/proxy`);
    line.write(`CONNECT command.test:${port} HTTP/1.1\r\n\r\n`);
    const [said] = await once(line, 'data');
    expect(String(said)).toContain('502');
    await out.close();
  });
});

describe('A host on the card of a script', () => {
  /** What the way out of its sandbox answers. */
  async function asks(host: string, network: readonly string[], ownHosts: readonly string[]): Promise<string> {
    const out = await openWayOut(network, { addresses: 'public', ownHosts });
    const line = connect(`${out.folder}/proxy`);
    line.write(`GET http://${host}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    let said = '';
    for await (const piece of line) said += String(piece);
    await out.close();
    return said;
  }

  it("refuses an inner address behind a public name of a script's card, whatever the name server answers", async () => {
    for (const inside of INSIDE) {
      names.lead('127.0.0.1.nip.test', inside);
      expect(await asks(`127.0.0.1.nip.test:${port}`, [`127.0.0.1.nip.test:${port}`], [])).toContain(' 502 ');
    }
    // Nor beside one that the person has named inside, and no address in digits by its name.
    const own = `inner.test:${port}`;
    names.lead('inner.test', ['127.0.0.1']);
    names.lead('public.test', ['127.0.0.1']);
    expect(await asks(`public.test:${port}`, [`public.test:${port}`], [own])).toContain(' 502 ');
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', 'inner.test.'])
      expect(await asks(`${host}:${port + 1}`, [], [own]), host).toContain(' 403 ');
    expect(await asks('inner.test', [], [own])).toContain(' 403 ');
  });

  it("reaches an inner host that the person named, and never a cloud's metadata address", async () => {
    const server = createServer((_request, response) => response.end('here'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `named.test:${(server.address() as AddressInfo).port}`;
    names.lead('named.test', ['127.0.0.1']);
    expect(await asks(host, [], [host])).toMatch(/ 200 [^]*here$/);
    expect(await asks('169.254.169.254', [], ['169.254.169.254'])).toContain(' 403 ');
    names.lead('meta.test', ['169.254.169.254']);
    expect(await asks('meta.test', [], ['meta.test'])).toContain(' 502 ');
    server.close();
  });
});

describe('A household at somebody else’s relay', () => {
  let relay: OpenRelay;
  let other: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
    const first = await relay.signIn();
    await first.fetch('/api/team', { method: 'PUT', json: { agents: [] } });
    other = await relay.signIn();
    await other.fetch('/api/home', { method: 'POST', json: { beside: true } });
  });
  afterAll(() => relay.close());

  it.each(INSIDE)('refuses a model server whose name leads to %s at the second lookup', async (inside) => {
    names.lead('model.test', [PUBLIC], [inside]);
    const json = { kind: 'server', address: at('model.test'), key: 'sk-of-the-other-household' };
    expect((await other.fetch('/api/models', { method: 'POST', json })).status).toBe(422);
    expect(names.asked('model.test')).toBeGreaterThan(1);
  });

  it('refuses such an MCP server', async () => {
    names.lead('tools.test', [PUBLIC], ['127.0.0.1']);
    const attachment = { kind: 'address', url: at('tools.test', '/mcp'), headers: {} };
    const answer = await other.fetch('/api/mcp-servers', { method: 'POST', json: { name: 'tools', attachment } });
    expect(answer.status, await answer.clone().text()).toBeLessThan(500);
    await expect.poll(() => names.asked('tools.test')).toBeGreaterThan(1);
  });
});

describe('An MCP server of one’s own that asks for a sign-in', () => {
  let relay: OpenRelay;
  let own: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
    own = await relay.signIn();
    await own.fetch('/api/team', { method: 'PUT', json: { agents: [] } });
  });
  afterAll(() => relay.close());

  it.each(['metadata', 'registration'] as const)(
    'does not fetch %s when the name leads inside at the second lookup',
    async (what) => {
      names.lead('sign-in.test', [PUBLIC], ['0.0.0.0']);
      const server = createServer((request, response) => {
        const json = (status: number, body: object, headers = {}) =>
          response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
        const here = `http://${request.headers.host ?? ''}`;
        if (request.url === '/mcp') {
          const metadata = what === 'metadata' ? at('sign-in.test', '/metadata') : `${here}/metadata`;
          return void json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
        }
        if (request.url === '/metadata')
          return void json(200, { resource: `${here}/mcp`, authorization_servers: [here] });
        return void json(200, {
          issuer: here,
          authorization_endpoint: `${here}/authorise`,
          token_endpoint: at('sign-in.test', '/token'),
          registration_endpoint: at('sign-in.test', '/register'),
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      const json = { name: what, attachment: { kind: 'address', url, headers: {} } };
      const added = mcpServerSchema.parse(await (await own.fetch('/api/mcp-servers', { method: 'POST', json })).json());
      const begun = await own.fetch(`/api/mcp-servers/${added.serverId}/sign-in`, { method: 'POST', json: {} });
      expect(begun.ok).toBe(false);
      expect(names.asked('sign-in.test')).toBeGreaterThan(1);
      await own.fetch(`/api/mcp-servers/${added.serverId}`, { method: 'DELETE' });
      server.close();
    },
  );
});

describe('What was connected by an address in digits', () => {
  it('calls an inner address in digits no more after a restart that forbids it', async () => {
    const home = await createHome();
    const model = await startScriptedModel(() => [{ say: 'Hm.' }]);
    const quick = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];
    const before = await openTestRelay({ home, args: [...quick, '--model-addresses', 'any'] });
    const browser = await before.signIn();
    await browser.fetch('/api/team', { method: 'PUT', json: { agents: [] } });
    const json = { kind: 'server', address: model.url, key: 'sk-of-the-household' };
    const made = connectionSchema.parse(await (await browser.fetch('/api/models', { method: 'POST', json })).json());
    await before.close();
    const asked = model.requests.length;
    const after = await openTestRelay({ home, args: [...quick, '--model-addresses', 'public'] });
    const again = await after.signIn();
    const tried = await again.fetch(`/api/models/${made.connectionId}/try`, { method: 'POST', json: {} });
    expect(JSON.stringify(await tried.json())).not.toContain('"answers"');
    expect(model.requests).toHaveLength(asked);
    await after.close();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });
});
