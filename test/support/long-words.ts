/**
 * What strangers write to hold the relay up: MCP servers, pages, model servers, clients. Each
 * input goes through a whole relay, which says how long its event loop was held meanwhile.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { mcpServerSchema } from '../../src/shared/protocol/mcp.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { calls, startHands } from './hands.ts';
import { createLoopLag } from './loop-lag.ts';
import { mcpAnswer } from './mcp-answer.ts';
import type { RelayOrigin } from './relay.ts';
import type { Part } from './scripted-model.ts';

/** What the MCP server is given, and the model server: `startHands` gives the latter this one. */
const SECRET = 'a-secret-of-the-test-7f3a';
const MODEL_KEY = 'key-of-a-test';
const PROGRAM = fileURLToPath(new URL('mcp-server.mjs', import.meta.url));
const ECHO = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } };

const repeated = (word: string, length: number) => `${word} `.repeat(Math.ceil(length / (word.length + 1)));
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const beside = (length: number) => `[${'[],'.repeat(length / 3)}[]]`;

type Answer = (response: ServerResponse, id: number) => void;
const inJson =
  (body: (id: number) => string, status = 200): Answer =>
  (response, id) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body(id));
const answered = (rest: string) => inJson((id) => `{"jsonrpc":"2.0","id":${id},${rest}}`);
const said = (text: string) => answered(`"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`);
const events =
  (count: number, data: (nth: number) => object): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let nth = 0; nth < count; nth++)
      response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...data(nth) })}\n\n`);
    response.end();
  };
const note = (nth: number) => ({
  method: 'notifications/progress',
  params: { progressToken: 1, progress: nth, message: SECRET },
});

export interface LongWords {
  /** By what is written. Resolves with what an agent or a client was told. */
  readonly inputs: Readonly<Record<string, () => Promise<string>>>;
  /** A run of an agent with one short call. */
  readonly ordinary: () => Promise<string>;
  /** ms for which the loop was held at most since this was last called. */
  longest(): Promise<number>;
  /** What must be in no answer. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** `from`: see `RelayOptions`. */
export async function startLongWords(from: RelayOrigin = 'sources'): Promise<LongWords> {
  const lag = createLoopLag();
  const hands = await startHands(['--scripts', '--web-addresses', 'any'], { env: lag.env, from });
  await hands.grant({ toolsets: { attached: 'allow', web: 'allow' } });
  const folder = await mkdtemp(join(tmpdir(), 'roost-words-'));
  const ways = join(folder, 'ways.json');
  await writeFile(ways, JSON.stringify({ tools: [ECHO], 'tools/call': ['flood', 100_000] }));

  let tool: object = ECHO;
  let says: Answer = said('Hello.');
  let page = '';
  const server = createServer((request, response) => {
    if (request.url === '/page') return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const asked = z
        .looseObject({
          id: z.number().optional(),
          method: z.string(),
          params: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
        })
        .parse(JSON.parse(body));
      if (asked.id === undefined) return void response.writeHead(202).end();
      if (asked.method === 'tools/call') return says(response, asked.id);
      answered(`"result":${JSON.stringify(mcpAnswer(asked, tool, ''))}`)(response, asked.id);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function attach(name: string, attachment: object): Promise<z.infer<typeof mcpServerSchema>> {
    const mcpServers = mcpServerSchema.parse(
      await (await hands.call('POST', '/api/mcp-servers', { name, attachment })).json(),
    );
    const tools = mcpServers.tools.map(({ name: each, hash }) => ({ name: each, hash, use: true }));
    await hands.call('PUT', `/api/mcp-servers/${mcpServers.serverId}`, { tools });
    return mcpServers;
  }
  const address = { kind: 'address', url: `${url}/mcp`, headers: { authorization: `Bearer ${SECRET}` } };
  await attach('far', address);
  await attach('near', { kind: 'program', command: process.execPath, args: [PROGRAM, ways], env: { SECRET } });
  const made = await hands.call('POST', '/api/credentials', { agentId: 'a1' });
  const { secret } = madeCredentialSchema.parse(await made.json());

  const does = async (...parts: readonly Part[]) => (await hands.works(parts)).join('\n');
  const far = (answer: Answer) => async () => {
    says = answer;
    return await does(...calls('mcp__far__echo', {}));
  };
  const near = async () => await does(...calls('mcp__near__echo', {}));
  const described = (description: string) => async () => {
    tool = { ...ECHO, description };
    const mcpServers = await attach('other', address);
    tool = ECHO;
    await hands.call('DELETE', `/api/mcp-servers/${mcpServers.serverId}`);
    return JSON.stringify(mcpServers);
  };
  const reads = (html: string) => async () => {
    page = html;
    return await does(...calls('fetch_page', { url: `${url}/page` }));
  };
  const model =
    (...parts: readonly Part[]) =>
    () => {
      says = said('Hello.');
      return does(...parts);
    };
  const breaks =
    (...parts: readonly Part[]) =>
    () =>
      hands.fails(parts);
  const posts =
    (path: string, body: string, type = 'application/json', method = 'POST') =>
    async () =>
      await (await hands.relay().fetch(path, { method, body, headers: { 'content-type': type } })).text();
  const proxied = (body: string) => async () =>
    await (
      await fetch(`${hands.relay().url}/llm/${secret}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    ).text();

  const inputs = {
    'a tool answers with its key 75,000 times': far(said(repeated(SECRET, 1_920_000))),
    'a tool answers with what is nearly its key': far(said(repeated(SECRET.slice(0, -1), 1_920_000))),
    'a tool fails with its key 75,000 times': far(
      answered(`"error":{"code":1,"message":${JSON.stringify(repeated(SECRET, 1_920_000))}}`),
    ),
    'an MCP server refuses with its key 75,000 times': far(inJson(() => repeated(SECRET, 1_920_000), 500)),
    'a tool is described with its key 19,000 times': described(repeated(SECRET, 480_000)),
    'a tool answers with 9.8 MB of lists in each other': far(answered(`"result":${nested(4_900_000)}`)),
    'a tool answers with 4.9 MB of lists beside each other': far(answered(`"result":${beside(4_900_000)}`)),
    'a tool answers with 4.9 MB of words': far(said('word '.repeat(980_000))),
    'a tool answers with 100,000 parts': far(
      answered(`"result":{"content":[${'{"type":"text","text":"a"},'.repeat(99_999)}{"type":"text","text":"b"}]}`),
    ),
    'an MCP server sends 100,000 notes of progress': far(events(100_000, note)),
    'an MCP server asks 20,000 questions': far(events(20_000, (id) => ({ id: `q${id}`, method: 'ping' }))),
    'a program sends 100,000 notes of progress': near,
    'a page is 2 MB of “&amp;”': reads('&amp;'.repeat(400_000)),
    'a page is 2 MB of tags in each other': reads('<b>'.repeat(660_000)),
    'a page is 2 MB of rows': reads(`<table>${'<tr><td>'.repeat(250_000)}`),
    'a model says its key 60,000 times': model({ say: repeated(MODEL_KEY, 840_000) }),
    'a model calls a tool with its key 68,000 times': model({
      call: 'mcp__far__echo',
      input: { text: repeated(MODEL_KEY, 950_000) },
    }),
    'a model calls a tool with 0.9 MB of lists': model({ call: 'mcp__far__echo', input: {}, json: beside(900_000) }),
    'a model calls a tool with 9.8 MB of lists': breaks({ call: 'mcp__far__echo', input: {}, json: beside(9_800_000) }),
    'a model’s refusal is its key 60,000 times': breaks({
      error: { type: 'api_error', message: repeated(MODEL_KEY, 840_000) },
    }),
    'a client sends 39 MB of lists beside each other': posts('/api/messages', beside(39_000_000)),
    'a client sends 2 MB of words': posts('/api/messages', JSON.stringify({ text: 'word '.repeat(390_000) })),
    'a client sends 60 KB of YAML': posts(
      '/v1/agents/a1/config',
      `coordination:\n  tools:\n${'    ? a\n'.repeat(7_000)}`,
      'application/yaml',
      'PUT',
    ),
    'a client asks a model with 39 MB of lists': proxied(beside(39_000_000)),
  } satisfies LongWords['inputs'];

  return {
    inputs,
    ordinary: far(said('Hello.')),
    longest: () => lag.longest(),
    secrets: [SECRET, MODEL_KEY],
    async close() {
      await hands.close();
      await new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
