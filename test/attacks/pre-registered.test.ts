/**
 * An OAuth client that the person has registered beforehand, with its secret, and servers that are
 * after both: an MCP server that names another sign-in server, and a sign-in server that lies.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpServerSchema, type McpServer } from '../../src/shared/protocol/mcp.ts';
import { mcpAnswer } from '../support/mcp-answer.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';

const CLIENT = { id: 'roost-of-ada', secret: 'client-secret-4711-of-ada' };
const TOOL = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } };
const BASIC = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
const rpcSchema = z.object({
  id: z.number().optional(),
  method: z.string(),
  params: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
});

interface Heard {
  readonly path: string;
  /** With its headers. */
  readonly all: string;
  readonly form: URLSearchParams;
}
interface Site {
  readonly origin: string;
  readonly heard: Heard[];
  /** What its description as a sign-in server says otherwise. */
  says: Record<string, unknown>;
  /** Answers instead of the site. False: the site answers. */
  instead: (path: string, response: ServerResponse) => boolean;
  readonly server: Server;
}

let relay: OpenRelay;
let page: Browser;
let good: Site;
let evil: Site;
/** The sign-in servers that the MCP server of `good` names. */
let named: string[];

const json = (response: ServerResponse, status: number, body: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** An MCP server with a sign-in server of its own. It takes any code, and gives a token. */
async function openSite(): Promise<Site> {
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site: Site = { origin, heard: [], says: {}, instead: () => false, server };
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { pathname: path } = new URL(request.url ?? '', origin);
    site.heard.push({
      path,
      all: JSON.stringify([request.url, request.headers, body]),
      form: new URLSearchParams(body),
    });
    if (site.instead(path, response)) return;
    if (path === '/mcp' && request.method === 'POST') {
      if (request.headers.authorization !== `Bearer token-of-${origin}`)
        return void response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}/found"` }).end();
      const asked = rpcSchema.parse(JSON.parse(body));
      if (asked.id === undefined) return void response.writeHead(202).end();
      return json(response, 200, { jsonrpc: '2.0', id: asked.id, result: mcpAnswer(asked, TOOL, 'In.') });
    }
    if (path === '/found') return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: named });
    if (path === '/.well-known/oauth-authorization-server')
      return json(response, 200, {
        ...{ issuer: origin, authorization_endpoint: `${origin}/allow`, token_endpoint: `${origin}/token` },
        ...{ registration_endpoint: `${origin}/register`, response_types_supported: ['code'] },
        ...{ code_challenge_methods_supported: ['S256'], authorization_response_iss_parameter_supported: true },
        ...site.says,
      });
    if (path === '/register') return json(response, 201, { ...JSON.parse(body), client_id: 'another-client' });
    if (path === '/token')
      return json(response, 200, {
        ...{ access_token: `token-of-${origin}`, refresh_token: 'again', token_type: 'Bearer', expires_in: 3_600 },
      });
    json(response, 404, {});
  }
  return site;
}

beforeAll(async () => {
  [good, evil] = [await openSite(), await openSite()];
  relay = await openTestRelay();
  page = await relay.signIn();
});
beforeEach(() => {
  named = [good.origin];
  for (const site of [good, evil]) {
    site.heard.splice(0);
    site.says = {};
    site.instead = () => false;
  }
});
afterEach(async () => {
  // Whatever happened, only the sign-in server of the client was ever given its secret.
  expect(evil.heard.filter(({ all }) => all.includes(CLIENT.secret) || all.includes(BASIC))).toEqual([]);
  for (const { serverId } of await all()) await page.fetch(`/api/mcp-servers/${serverId}`, { method: 'DELETE' });
});
afterAll(async () => {
  await relay.close();
  for (const { server } of [good, evil]) {
    server.closeAllConnections();
    server.close();
  }
});

const all = async () =>
  z.object({ servers: z.array(mcpServerSchema) }).parse(await (await page.fetch('/api/mcp-servers')).json()).servers;
async function attach(client: object): Promise<McpServer> {
  const attachment = { kind: 'address', url: `${good.origin}/mcp`, client };
  const answer = await page.fetch('/api/mcp-servers', { method: 'POST', json: { name: 'far', attachment } });
  expect(answer.status, await answer.clone().text()).toBe(201);
  return mcpServerSchema.parse(await answer.json());
}
const begin = ({ serverId }: McpServer) => page.fetch(`/api/mcp-servers/${serverId}/sign-in`, { method: 'POST' });
const pageOf = async (answer: Response) =>
  new URL(z.object({ url: z.string() }).parse(await answer.json()).url).searchParams;
const finish = (query: Record<string, string>) =>
  page.fetch('/api/mcp-sign-ins', { method: 'POST', json: { query: new URLSearchParams(query).toString() } });
async function signIn(server: McpServer): Promise<Response> {
  const query = await pageOf(await begin(server));
  return await finish({ state: query.get('state') ?? '', iss: good.origin, code: 'a-code' });
}
const tokens = (site: Site) => site.heard.filter(({ path }) => path === '/token');
const NOT_ITS = /another sign-in server than the one that the client is for/;

it.each([
  ['from the first sign-in on where the person named it', true],
  ['from the second sign-in on where nobody named it', false],
])('gives the secret to no other sign-in server, %s', async (_when, isNamed) => {
  const server = await attach(isNamed ? { ...CLIENT, issuer: good.origin } : CLIENT);
  if (!isNamed) expect((await signIn(server)).status).toBe(200);
  named = [evil.origin];
  const refused = await begin(server);
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringMatching(NOT_ITS)]);
  // Nor is a new client registered in its place.
  expect(evil.heard.filter(({ path }) => ['/register', '/token'].includes(path))).toEqual([]);
  named = [good.origin];
  expect((await signIn(server)).status).toBe(200);
  expect(tokens(good).every(({ all: sent }) => sent.includes(BASIC))).toBe(true);
});

it('takes only an answer with the state of this sign-in, once, and sends the verifier of this one', async () => {
  const server = await attach(CLIENT);
  const earlier = await pageOf(await begin(server));
  const query = await pageOf(await begin(server));
  const [old, state] = [earlier.get('state') ?? '', query.get('state') ?? ''];
  const right = { state, iss: good.origin, code: 'a-code' };
  for (const wrong of [
    { ...right, state: old },
    { ...right, state: `${state}x` },
    { ...right, state: '' },
  ])
    expect((await finish(wrong)).status).toBe(409);
  expect(tokens(good)).toEqual([]);
  expect(
    (await finish({ ...right, client_id: 'another', redirect_uri: evil.origin, token_endpoint: evil.origin })).status,
  ).toBe(200);
  expect((await finish(right)).status).toBe(409);
  const [only, ...more] = tokens(good);
  expect(more).toEqual([]);
  expect(only?.form.get('redirect_uri')).toBe(query.get('redirect_uri'));
  const verifier = only?.form.get('code_verifier') ?? '';
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(query.get('code_challenge'));
});

it('takes no answer of another sign-in server, with the right state', async () => {
  const server = await attach(CLIENT);
  for (const iss of [evil.origin, `${good.origin}/`, '']) {
    const state = (await pageOf(await begin(server))).get('state') ?? '';
    const answer = await finish({ state, code: 'a-code', ...(iss === '' ? {} : { iss }) });
    expect([iss, answer.status]).toEqual([iss, 409]);
  }
  expect(tokens(good)).toEqual([]);
});

it.each<[string, (response: ServerResponse) => void]>([
  ['huge', (response) => void response.writeHead(200).end(`{"x":"${'y'.repeat(2_000_000)}"}`)],
  ['deep', (response) => void response.writeHead(200).end('['.repeat(10_000))],
  ['led elsewhere', (response) => void response.writeHead(307, { location: `${evil.origin}/token` }).end()],
  ['no token', (response) => json(response, 200, { access_token: { x: 1 } })],
  [
    'a token without end',
    (response) => json(response, 200, { access_token: 'x'.repeat(20_000), token_type: 'Bearer' }),
  ],
])('refuses an answer that is %s, and says so', async (_what, answer) => {
  const server = await attach(CLIENT);
  good.instead = (path, response) => path === '/token' && (answer(response), true);
  const refused = await signIn(server);
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringMatching(/sign-in server/)]);
  expect(await all()).toMatchObject([{ signIn: { state: 'none' } }]);
});

it.each<[string, () => Record<string, unknown>]>([
  ['calls itself another', () => ({ issuer: evil.origin })],
  ['has its tokens at an address that no relay calls', () => ({ token_endpoint: 'http://169.254.169.254/token' })],
  ['has its tokens at no web address', () => ({ token_endpoint: 'file:///etc/passwd' })],
  ['has its page at no web address', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
])('does not sign in when the sign-in server %s', async (_what, says) => {
  good.says = says();
  const server = await attach(CLIENT);
  const begun = await begin(server);
  if (begun.status === 200)
    expect(
      (await finish({ state: (await pageOf(begun)).get('state') ?? '', iss: good.origin, code: 'a-code' })).status,
    ).toBe(409);
  else expect(begun.status).toBe(409);
  expect(await all()).toMatchObject([{ signIn: { state: 'none' } }]);
});
