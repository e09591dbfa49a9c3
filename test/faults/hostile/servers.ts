/**
 * Servers of an attacker: a model that does what it is told, one that breaks every rule, and a tool
 * server that means harm.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startScriptedModel, type ScriptedModel } from '../../support/scripted-model.ts';

/** Writes an answer, as it likes. */
export type OddAnswer = (response: ServerResponse) => Promise<void> | void;
/**
 * Answers a call of an MCP server: its result, or writes on the response by itself and gives null.
 */
export type OddResult = (request: { readonly id: unknown; readonly response: ServerResponse }) => object | null;

export interface HostileServers {
  readonly model: ScriptedModel;
  /** Of the model that breaks rules. */
  readonly oddUrl: string;
  odd(answer: OddAnswer): void;
  readonly toolsUrl: string;
  /** What it says of its tools, and what a call of one gives. */
  tools(list: () => object, result: OddResult): void;
  /** It asks for a sign-in, at itself, in the name of this issuer. Null: it asks for none. */
  asksSignIn(issuer: string | null): void;
  /** What it was sent in confidence: headers of the last call, and what it was sent for tokens. */
  readonly heard: { headers: IncomingMessage['headers']; tokens: string[] };
  close(): Promise<void>;
}

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const end = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

export const BEGINNING = {
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'odd',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};

/** One small answer, as a model gives it that is tried. */
const WELL = [
  ['message_start', BEGINNING],
  ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Yes.' } }],
  ['content_block_stop', { index: 0 }],
  ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }],
  ['message_stop', {}],
] as const;
export const sse = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
export const answersWell: OddAnswer = (response) =>
  void response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(WELL.map(([type, fields]) => sse(type, fields)).join(''));

export async function openHostileServers(): Promise<HostileServers> {
  const model = await startScriptedModel(() => [{ say: 'Yes.' }]);
  let answer = answersWell;
  const odd = createServer((request, response) => {
    response.on('error', () => undefined);
    void text(request)
      .catch(() => '')
      .then(() => {
        if (request.method === 'GET')
          return response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"odd"}]}');
        return answer(response);
      });
  });
  const heard: HostileServers['heard'] = { headers: {}, tokens: [] };
  let issuer: string | null = null;
  let list: () => object = () => ({ tools: [] });
  let result: OddResult = () => ({ content: [] });
  const tools = createServer((request, response) => {
    heard.headers = request.headers;
    response.on('error', () => undefined);
    void text(request)
      .catch(() => '')
      .then((said) => {
        const json = (value: object) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
        const own = `http://${request.headers.host}`;
        if (issuer !== null) {
          const { url = '' } = request;
          if (url.startsWith('/.well-known/oauth-protected-resource'))
            return json({ resource: `${own}/mcp`, authorization_servers: [own] });
          if (url.startsWith('/.well-known/'))
            return json({
              ...{ issuer, authorization_endpoint: `${own}/authorize`, token_endpoint: `${own}/token` },
              ...{ response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
              token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
            });
          if (url.startsWith('/token')) {
            heard.tokens.push(`${request.headers.authorization ?? ''} ${said}`);
            return json({ access_token: 'x', token_type: 'Bearer' });
          }
          const ask = `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"`;
          return response.writeHead(401, { 'www-authenticate': ask }).end();
        }
        if (request.method !== 'POST') return response.writeHead(405).end();
        const { id, method, params } = JSON.parse(said || '{}') as {
          id?: unknown;
          method?: string;
          params?: { protocolVersion?: string };
        };
        if (id === undefined) return response.writeHead(202).end();
        const given =
          method === 'initialize'
            ? {
                protocolVersion: params?.protocolVersion ?? '2025-06-18',
                capabilities: { tools: { listChanged: true } },
                serverInfo: { name: 'odd', version: '1' },
              }
            : method === 'tools/list'
              ? list()
              : result({ id, response });
        if (given === null) return undefined;
        return response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: given }));
      })
      .catch(() => response.destroy());
  });
  const [oddUrl, toolsUrl] = [await listen(odd), await listen(tools)];
  return {
    model,
    oddUrl,
    odd: (next) => (answer = next),
    toolsUrl: `${toolsUrl}/mcp`,
    tools(nextList, nextResult) {
      list = nextList;
      result = nextResult;
    },
    asksSignIn: (next) => void (issuer = next),
    heard,
    async close() {
      await Promise.all([model.close(), end(odd), end(tools)]);
    },
  };
}
