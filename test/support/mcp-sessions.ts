/**
 * An MCP server over HTTP that keeps sessions, as most do: it can be restarted, and refuses whom it
 * does not know.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { mcpAnswer } from './mcp-answer.ts';

const askedSchema = z.object({
  id: z.number().optional(),
  method: z.string(),
  params: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
});
export type Asked = z.infer<typeof askedSchema>;

export interface SessionServer {
  url(): string;
  /** Each message that came, with the session in whose name. */
  readonly heard: readonly (Asked & { readonly session: string | undefined })[];
  /** Answers a request in its own way; false: it is answered as usual. */
  does(answers: (asked: Asked, response: ServerResponse, request: IncomingMessage) => boolean): void;
  /** The sessions are gone. Whoever names one of them is refused with this status. */
  forget(status?: number): void;
  down(): Promise<void>;
  /** On the same port. */
  up(): Promise<void>;
}

const TOOL = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } };

export async function startSessionServer(): Promise<SessionServer> {
  const heard: (Asked & { session: string | undefined })[] = [];
  let sessions = new Set<string>();
  let unknown = 404;
  let answers: Parameters<SessionServer['does']>[0] = () => false;
  let server: Server;
  let port = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const asked = askedSchema.parse(JSON.parse(await text(request)));
    const session = request.headers['mcp-session-id']?.toString();
    heard.push({ ...asked, session });
    if (answers(asked, response, request)) return;
    if (asked.method !== 'initialize' && !sessions.has(session ?? '')) {
      response.writeHead(unknown, { 'content-type': 'application/json' });
      const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' };
      return void response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
    }
    if (asked.id === undefined) return void response.writeHead(202).end();
    const made = asked.method === 'initialize' ? randomUUID() : null;
    if (made !== null) sessions.add(made);
    const result = mcpAnswer(asked, TOOL, `From session ${sessions.size}.`);
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(made === null ? {} : { 'mcp-session-id': made }),
    });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
  }
  const up = () =>
    new Promise<void>((ready) => {
      server = createServer((request, response) => void answer(request, response));
      server.listen(port, '127.0.0.1', () => {
        ({ port } = server.address() as AddressInfo);
        ready();
      });
    });
  await up();
  return {
    url: () => `http://127.0.0.1:${port}/mcp`,
    heard,
    does: (next) => void (answers = next),
    forget(status = 404) {
      unknown = status;
      sessions = new Set();
    },
    async down() {
      sessions = new Set();
      await new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      });
    },
    up,
  };
}
