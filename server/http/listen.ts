/**
 * The relay's HTTP server: bounded in connections (`connections.ts`) and in how long a request may
 * take to arrive.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../src/shared/protocol/http.ts';
import { farewell, guardConnections, type ConnectionLimits } from './connections.ts';
import { StartError } from '../platform/start-error.ts';
import type { TlsPair } from './tls.ts';

export const HTTP_LIMITS = {
  here: 4_096,
  elsewhere: 4_096,
  perAddress: 512,
  /**
   * ms for the headers of a request, and for the whole of it; and between two looks at who is over
   * it.
   */
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  checkInterval: 1_000,
  keepAliveTimeout: 30_000,
  /** ms for two ends to agree on TLS. */
  handshakeTimeout: 20_000,
  /** ms that answers in progress get when the relay ends. */
  closeGrace: 1_000,
} as const;

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;
/** `again` reads what comes on the socket as requests, from the beginning. */
export type UpgradeListener = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  again: (socket: Duplex) => void,
) => void;

export interface HttpServer {
  readonly port: number;
  /** Until this is called, every request gets a 503. */
  serve(listener: Listener, upgrade?: UpgradeListener): void;
  /** From the next connection on; only where it listens with TLS. */
  secureWith(pair: TlsPair): void;
  close(): Promise<void>;
}

function startError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  if (error.code === 'EADDRINUSE')
    return new StartError(`Port ${port} is in use. End what uses it, or choose another with --port.`, 1, {
      cause: error,
    });
  if (error.code === 'EACCES')
    return new StartError(`Port ${port} may not be used here. Choose another with --port.`, 1, { cause: error });
  if (error.code === 'EADDRNOTAVAIL')
    return new StartError(`This machine has no address ${host}. Choose another with --host.`, 1, { cause: error });
  return error;
}

/**
 * What is not HTTP, is too slow or has too many headers never becomes a request: its answer is
 * written by hand.
 */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // What could not agree on TLS can be told nothing.
  if (
    error.code === 'ECONNRESET' ||
    error.code?.startsWith('ERR_SSL_') ||
    error.code?.startsWith('ERR_TLS_') ||
    !socket.writable
  )
    return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const problem: Problem = {
    type: 'about:roost/malformed',
    title: 'That does not fit',
    status,
    detail: 'This is not a request that Roost can read.',
  };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  farewell(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}

function closeServer(server: Server | SecureServer): Promise<void> {
  return new Promise((resolve) => {
    const grace = setTimeout(() => server.closeAllConnections(), HTTP_LIMITS.closeGrace);
    server.close(() => {
      clearTimeout(grace);
      resolve();
    });
    server.closeIdleConnections();
  });
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsPair | null;
  /** All calls from elsewhere come through a proxy, and so from one address. */
  readonly proxied?: boolean;
  readonly limits?: Partial<ConnectionLimits>;
  /** ms that a request may take to arrive, and between two looks at who is over it. */
  readonly times?: { readonly headersTimeout: number; readonly checkInterval: number };
}

/**
 * Listens at once, so that a port in use is known before anything slow begins; with TLS where there
 * is a certificate. Throws `StartError`.
 */
export function listen({
  host,
  port,
  tls = null,
  proxied = false,
  limits: own = {},
  times = HTTP_LIMITS,
}: ListenOptions): Promise<HttpServer> {
  let serve: Listener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();
  const { requestTimeout, keepAliveTimeout, handshakeTimeout, here, elsewhere, perAddress } = HTTP_LIMITS;
  const limits = {
    headersTimeout: times.headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    connectionsCheckingInterval: times.checkInterval,
  };
  const onRequest: Listener = (request, response) => serve(request, response);
  const secure = tls === null ? null : createSecureServer({ ...limits, ...tls, handshakeTimeout }, onRequest);
  const server = secure ?? createServer(limits, onRequest);
  guardConnections(server, { here, elsewhere, perAddress: proxied ? null : perAddress, ...own });
  server.on('clientError', refuseBroken);
  const again = (socket: Duplex) => void server.emit(secure ? 'secureConnection' : 'connection', socket);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(startError(error, host, port)));
    server.listen(port, host, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return reject(new Error('the server has no port'));
      return resolve({
        port: address.port,
        serve(listener, upgrade) {
          serve = listener;
          if (upgrade) server.on('upgrade', (request, socket, head) => upgrade(request, socket, head, again));
        },
        secureWith: (pair) => secure?.setSecureContext(pair),
        close: () => closeServer(server),
      });
    });
  });
}
