/**
 * WebSockets. An upgrade request for the socket's path goes through the same app as every call,
 * with all its checks. Only the route that accepts it opens a socket. Any other answer of the app
 * is sent as a plain response. On other paths an upgrade is refused before the app, because an
 * endless answer, such as a stream, would be sent to nobody.
 */
import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import { WebSocketServer, type WebSocket } from 'ws';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { farewell, type UpgradeListener } from './listen.ts';
import type { Env } from './endpoint.ts';
import { problem } from './problem.ts';

/** The whole relay as an HTTP app. */
export interface App {
  readonly fetch: Hono<Env>['fetch'];
  /** The response for data that is not an HTTP request, or fails outside of every route. */
  readonly refuse: (error: unknown) => Response;
}

/** Without these headers, a request asks for no upgrade. */
const UPGRADING = new Set(['upgrade', 'http2-settings']);

interface Accepted {
  readonly take: (socket: WebSocket) => void;
  /** Why no socket can be opened, as a problem. Null: one can. */
  readonly refuse: () => Error | null;
}

export interface Upgrades {
  isUpgrade(incoming: IncomingMessage): boolean;
  /**
   * Called by a route: opens a socket once the route has answered with a success. `refuse` is asked
   * in that moment, when all sockets that were accepted before are open.
   */
  accept(incoming: IncomingMessage, accepted: Accepted): void;
  listener(app: Pick<App, 'fetch' | 'refuse'>): UpgradeListener;
}

function requestOf(incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  return new Request(new URL(incoming.url ?? '/', 'http://localhost'), { headers });
}

async function write(response: Response, socket: Duplex): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const head = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`];
  for (const [name, value] of response.headers) if (name !== 'connection') head.push(`${name}: ${value}`);
  farewell(
    socket,
    Buffer.concat([
      Buffer.from(`${[...head, `content-length: ${body.length}`, 'connection: close'].join('\r\n')}\r\n\r\n`),
      body,
    ]),
  );
}

/** Some clients offer HTTP/2 with every request, and continue without it. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method ?? 'GET'} ${url ?? '/'} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]];
    if (UPGRADING.has(name.toLowerCase())) continue;
    const kept =
      name.toLowerCase() === 'connection'
        ? value
            .split(',')
            .filter((token) => !UPGRADING.has(token.trim().toLowerCase()))
            .join(',')
        : value;
    if (kept !== '') lines.push(`${name}: ${kept}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
}

/** `path`: of the socket. `messageBytes`: a longer message ends its socket. */
export function createUpgrades({
  path,
  messageBytes,
}: {
  readonly path: string;
  readonly messageBytes: number;
}): Upgrades {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytes,
    // Only the name of the protocol is returned. The other offered value is a key.
    handleProtocols: (offered) => (offered.has(PAGE_KEY.protocol) ? PAGE_KEY.protocol : false),
  });
  const asking = new WeakSet<IncomingMessage>();
  const accepted = new WeakMap<IncomingMessage, Accepted>();
  const cookies = new WeakMap<IncomingMessage, readonly string[]>();
  server.on('headers', (headers, incoming) =>
    headers.push(...(cookies.get(incoming) ?? []).map((cookie) => `set-cookie: ${cookie}`)),
  );

  async function answer(
    app: Pick<App, 'fetch' | 'refuse'>,
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    let response: Response;
    try {
      if (incoming.url?.split('?')[0] !== path)
        throw problem(400, 'not-a-socket', 'This address does not accept WebSockets.');
      response = await app.fetch(requestOf(incoming), { incoming, outgoing: new ServerResponse(incoming) });
    } catch (error) {
      response = app.refuse(error);
    }
    if (socket.destroyed) return;
    const opens = accepted.get(incoming);
    if (opens === undefined || !response.ok) return await write(response, socket);
    const refusal = opens.refuse();
    if (refusal !== null) return await write(app.refuse(refusal), socket);
    // A renewed sign-in reaches the browser here.
    cookies.set(incoming, response.headers.getSetCookie());
    server.handleUpgrade(incoming, socket, head, opens.take);
  }

  return {
    isUpgrade: (incoming) => asking.has(incoming),
    accept: (incoming, given) => void accepted.set(incoming, given),
    listener: (app) => (incoming, socket, head, again) => {
      if (incoming.method !== 'GET' || incoming.headers.upgrade?.toLowerCase() !== 'websocket') {
        socket.unshift(withoutUpgrade(incoming, head));
        return again(socket);
      }
      asking.add(incoming);
      answer(app, incoming, socket, head).catch(() => socket.destroy());
    },
  };
}
