/**
 * WebSockets. A request to upgrade goes through the same app as every call, with all its checks,
 * where a socket is to be had; only the route that accepts it makes it one, and whatever else the
 * app answers is written as a plain answer. Everywhere else it is refused before the app: an answer
 * that never ends, as that of a stream, would be held for nobody.
 */
import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import { WebSocketServer, type WebSocket } from 'ws';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { farewell, type UpgradeListener } from './listen.ts';
import type { Env } from './endpoint.ts';
import { problem } from './problem.ts';

/** All that the relay answers. */
export interface App {
  readonly fetch: Hono<Env>['fetch'];
  /** An answer for what is no HTTP request, or fails outside of every route. */
  readonly refuse: (error: unknown) => Response;
}

/** A request as it was, with these left out, is one that asks for no upgrade. */
const UPGRADING = new Set(['upgrade', 'http2-settings']);

export interface Upgrades {
  isUpgrade(incoming: IncomingMessage): boolean;
  /** From a route: makes it a socket once the route has answered with a success. */
  accept(incoming: IncomingMessage, take: (socket: WebSocket) => void): void;
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

/** Some clients offer HTTP/2 with every request, and go on when nobody takes them up on it. */
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

/**
 * `path`: where a socket is to be had. `messageBytes`: of one message; a longer one ends its
 * socket.
 */
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
    // Of what is offered only its name is spoken back: the other carries a key.
    handleProtocols: (offered) => (offered.has(PAGE_KEY.protocol) ? PAGE_KEY.protocol : false),
  });
  const asking = new WeakSet<IncomingMessage>();
  const accepted = new WeakMap<IncomingMessage, (socket: WebSocket) => void>();
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
      if (incoming.url?.split('?')[0] !== path) throw problem(400, 'not-a-socket', 'This address takes no WebSocket.');
      response = await app.fetch(requestOf(incoming), { incoming, outgoing: new ServerResponse(incoming) });
    } catch (error) {
      response = app.refuse(error);
    }
    if (socket.destroyed) return;
    const take = accepted.get(incoming);
    if (take === undefined || !response.ok) return await write(response, socket);
    // A sign-in that is renewed on the way is told to the browser here.
    cookies.set(incoming, response.headers.getSetCookie());
    server.handleUpgrade(incoming, socket, head, take);
  }

  return {
    isUpgrade: (incoming) => asking.has(incoming),
    accept: (incoming, take) => void accepted.set(incoming, take),
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
