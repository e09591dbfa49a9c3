/**
 * The relay's HTTP server, with limits on connections and on how long a request may take to arrive.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { isIP, isIPv4, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../src/shared/protocol/http.ts';
import { StartError } from '../platform/errors.ts';

// The relay's own certificate. It is read and checked, and read again when its files change.

/** ms between two checks of the files. Polling also notices links and replaced folders. */
const CHECK_EVERY_MS = 30_000;

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Both in PEM: the certificate with its chain, and its key. */
interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

interface ReadDeps {
  readonly files: TlsFiles;
  /** The host name that browsers will use. Null where it is unknown. */
  readonly name: string | null;
  /** ms since the epoch. */
  readonly now: () => number;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error));

async function read(path: string, what: string, flag: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(
      `The ${what} ${path} cannot be read (${codeOf(error)}). Make it readable for Roost, or name another file with ${flag}.`,
      1,
      { cause: error },
    );
  }
}

function certificateOf(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new StartError(
      `${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----). Name another file with --tls-cert.`,
      1,
      { cause: error },
    );
  }
}

function keyOf(text: string, path: string) {
  if (/-----BEGIN ENCRYPTED |Proc-Type: 4,ENCRYPTED/.test(text))
    throw new StartError(`The key ${path} is locked with a passphrase. Name one without with --tls-key.`);
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new StartError(
      `${path} holds no private key in PEM form (-----BEGIN PRIVATE KEY-----). Name another file with --tls-key.`,
      1,
      { cause: error },
    );
  }
}

const isFor = (certificate: X509Certificate, name: string) =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

/**
 * Reads both files and checks that they fit together and are valid now. Throws `StartError` with
 * one line that says what is wrong.
 */
export async function readTlsPair({ files, name, now }: ReadDeps): Promise<TlsPair> {
  const pair = {
    cert: await read(files.cert, 'certificate', '--tls-cert'),
    key: await read(files.key, 'key', '--tls-key'),
  };
  const certificate = certificateOf(pair.cert, files.cert);
  if (!certificate.checkPrivateKey(keyOf(pair.key, files.key)))
    throw new StartError(
      `The key ${files.key} does not belong to the certificate ${files.cert}. Name two that do with --tls-cert and --tls-key.`,
    );
  if (now() > Date.parse(certificate.validTo))
    throw new StartError(`The certificate ${files.cert} ended on ${certificate.validTo}. Renew it.`);
  if (now() < Date.parse(certificate.validFrom))
    throw new StartError(
      `The certificate ${files.cert} is good only from ${certificate.validFrom} on. Set this machine's clock right, or wait.`,
    );
  if (name !== null && !isFor(certificate, name))
    throw new StartError(
      `The certificate ${files.cert} is not for ${name}: browsers would refuse it. Get one for that name, or set --public-url to a name that it is for.`,
    );
  return pair;
}

interface TlsWatchDeps extends ReadDeps {
  /** A new and valid pair. */
  readonly onPair: (pair: TlsPair) => void;
  /** The new pair is invalid or unreadable. The previous one stays in use. */
  readonly onProblem: (error: StartError) => void;
  readonly checkEveryMs?: number;
}

export interface TlsWatch {
  /** Reads the files now. */
  reload(): Promise<void>;
  close(): void;
}

/**
 * Reads the files again when either has changed. If both are replaced one after another, the second
 * change completes the pair.
 */
export function watchTlsFiles({
  onPair,
  onProblem,
  checkEveryMs: checkEveryMs = CHECK_EVERY_MS,
  ...deps
}: TlsWatchDeps): TlsWatch {
  const paths = [deps.files.cert, deps.files.key];
  /** The last reported problem, because a file that is written in several steps is read in each. */
  let announced = '';
  async function reload(again: boolean): Promise<void> {
    try {
      const pair = await readTlsPair(deps);
      if (again || announced !== pair.cert + pair.key) onPair(pair);
      announced = pair.cert + pair.key;
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      if (again || announced !== error.message) onProblem(error);
      announced = error.message;
    }
  }
  const onChange = () => void reload(false);
  for (const path of paths) watchFile(path, { persistent: false, interval: checkEveryMs }, onChange);
  return {
    reload: () => reload(true),
    close() {
      for (const path of paths) unwatchFile(path, onChange);
    },
  };
}

// Tracks all connections. Every socket has handlers from its first byte to its close, so that no
// socket error can end the process. The number is limited: an idle connection makes way for a new
// one, the longest idle first. So thousands of unfinished requests keep nobody out. Connections
// from this machine have a limit of their own.

interface ConnectionLimits {
  /** Connections from this machine, where each waiting call of a sleeping agent takes one. */
  readonly here: number;
  /** Connections from all other machines together. */
  readonly elsewhere: number;
  /** Connections from one other address. Null where a proxy stands for all of them. */
  readonly perAddress: number | null;
}

/** ms that a refused client has to read why. */
const FAREWELL_MS = 500;

/** Writes the last data of a connection and ends it, whether or not the other side closes. */
export function farewell(socket: Duplex, last: string | Uint8Array): void {
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(last);
}

interface Connection {
  readonly socket: Socket;
  readonly group: Group;
  /** Running requests, and a WebSocket. */
  busy: number;
}

/** Connections that share a limit. `idle`: in the order in which they became idle. */
interface Group {
  readonly most: number;
  readonly idle: Set<Connection>;
  count: number;
  readonly parent: Group | null;
}

const isHere = (address: string) => address === '::1' || /^(?:::ffff:)?127\./.test(address);
/** The owner of an IPv6 address owns its whole prefix. */
const holderOf = (address: string) => {
  const plain = address.replace(/^::ffff:/, '');
  return isIPv4(plain) ? plain : plain.split(':').slice(0, 4).join(':');
};

const groupOf = (most: number, parent: Group | null = null): Group => ({ most, idle: new Set(), count: 0, parent });

function add(connection: Connection): void {
  for (let group: Group | null = connection.group; group; group = group.parent) group.count += 1;
}
function setIdle(connection: Connection, idle: boolean): void {
  for (let group: Group | null = connection.group; group; group = group.parent) {
    group.idle.delete(connection);
    if (idle) group.idle.add(connection);
  }
}
function remove(connection: Connection): void {
  setIdle(connection, false);
  for (let group: Group | null = connection.group; group; group = group.parent) group.count -= 1;
}

/** Watches over the connections of a server. Must be called before it listens. */
function guardConnections(server: Server | SecureServer, { here, elsewhere, perAddress }: ConnectionLimits): void {
  const ownHere = groupOf(here);
  const allElsewhere = groupOf(elsewhere);
  const byHolder = new Map<string, Group>();
  /**
   * By both ends' addresses: with TLS, requests come on another socket than the one that was
   * opened.
   */
  const connections = new Map<string, Connection>();
  const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket) => `${remoteAddress} ${remotePort}`;

  function groupFor(address: string): Group {
    if (isHere(address)) return ownHere;
    if (perAddress === null) return allElsewhere;
    const holder = holderOf(address);
    const group = byHolder.get(holder) ?? groupOf(perAddress, allElsewhere);
    byHolder.set(holder, group);
    return group;
  }

  /** Whether there is room. Closes the connection that has been idle for longest if needed. */
  function makeRoom(group: Group): boolean {
    for (let full: Group | null = group; full; full = full.parent) {
      if (full.count < full.most) continue;
      const [longest] = full.idle;
      if (!longest) return false;
      remove(longest);
      connections.delete(keyOf(longest.socket));
      longest.socket.destroy();
    }
    return true;
  }

  const heard = (socket: Duplex) => void socket.on('error', () => socket.destroy());

  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    // A socket that was handed back to be read as another request.
    if (connections.get(key)?.socket === socket) return;
    heard(socket);
    const address = socket.remoteAddress ?? '';
    const group = groupFor(address);
    if (!makeRoom(group)) return void socket.destroy();
    const connection: Connection = { socket, group, busy: 0 };
    connections.set(key, connection);
    add(connection);
    setIdle(connection, true);
    socket.once('close', () => {
      if (connections.get(key) !== connection) return;
      connections.delete(key);
      remove(connection);
      if (group.count === 0 && group.parent) byHolder.delete(holderOf(address));
    });
  });
  server.on('secureConnection', heard);

  function isBusy(socket: Socket, until: NodeJS.EventEmitter): void {
    const connection = connections.get(keyOf(socket));
    if (!connection) return;
    connection.busy += 1;
    setIdle(connection, false);
    until.once('close', () => {
      connection.busy -= 1;
      if (connection.busy === 0 && connections.get(keyOf(socket)) === connection) setIdle(connection, true);
    });
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => isBusy(request.socket, response));
  server.on('upgrade', (request: IncomingMessage) => isBusy(request.socket, request.socket));
}

export const HTTP_LIMITS = {
  here: 4_096,
  elsewhere: 4_096,
  perAddress: 512,
  /**
   * ms for the headers of a request, and for the whole of it; and between two checks of these
   * times.
   */
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  checkInterval: 1_000,
  keepAliveTimeout: 30_000,
  /** ms for a TLS handshake. */
  handshakeTimeout: 20_000,
  /** ms that running answers get when the relay ends. */
  closeGrace: 1_000,
} as const;

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;
/** `again` reads the socket's data as requests, from the beginning. */
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
  /** Applies from the next connection on, and only with TLS. */
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
 * Data that is not HTTP, is too slow or has too many headers never becomes a request. Its answer is
 * written by hand.
 */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Without a TLS handshake no answer can be sent.
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

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsPair | null;
  /** All calls from elsewhere come through a proxy, and so from one address. */
  readonly proxied?: boolean;
  readonly limits?: Partial<ConnectionLimits>;
  /** ms that a request may take to arrive, and between two checks of that. */
  readonly times?: { readonly headersTimeout: number; readonly checkInterval: number };
}

/**
 * Listens at once, so that a port in use is noticed before any slow work begins. With TLS where
 * there is a certificate. Throws `StartError`.
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
