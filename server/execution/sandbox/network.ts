/**
 * The only way out of a sandbox with network access: a proxy of the relay for one run, at a socket
 * in the file system. The sandbox has an empty network of its own and no name resolution. A program
 * inside forwards one port to the socket. So every connection, request and redirect names its host
 * to the proxy, which refuses hosts that the person has not granted. Names resolve only to
 * addresses that agents may read (`--web-addresses`), and the connection uses the very address that
 * was checked. Hosts on the relay's own machine and networks are reached only where the person
 * named exactly them for this run.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, isIP, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { mayReach, type Network } from '../../../src/shared/domain/network.ts';
import { fits, hostOf, lookupWithin } from '../../platform/guarded-fetch.ts';
import type { MayConnect } from '../../../src/shared/protocol/models.ts';

export interface NetworkDeps {
  /** Addresses that any name may resolve to. */
  readonly addresses: MayConnect;
  /** How names are resolved. The default returns only permitted addresses. */
  readonly lookup?: LookupFunction;
}
export interface WayOutDeps extends NetworkDeps {
  /** Hosts that may be on the relay's own machine and networks. Left out: none. */
  readonly ownHosts?: readonly string[];
}

/** The way out of one run. */
export interface WayOut {
  /** Contains the socket, and nothing else. */
  readonly folder: string;
  close(): Promise<void>;
}

export const SOCKET = 'proxy';
/** Concurrent connections of one run. */
const CONNECTIONS = 100;
/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
const ONE_HOP = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

interface Target {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
}

const passedOn = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ONE_HOP.includes(name)));

function targetOf(address: string, port: number): Target | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  if (url.protocol !== 'http:' || url.hostname === '') return null;
  // A trailing dot does not change a name.
  return { url, host: hostOf(url).replace(/\.$/, ''), port: Number(url.port) || port };
}

/**
 * The target of a tunnel: a host and a port (RFC 9110, 9.3.6). A URL omits its scheme's default
 * port.
 */
function tunnelTargetOf(authority: string): Target | null {
  const target = targetOf(`http://${authority}`, 443);
  const port = /:(\d{1,5})$/.exec(authority)?.[1];
  return target && port !== undefined ? { ...target, port: Number(port) } : target;
}

const FOLDER = 'roost-net-';
/** A younger socket may not listen yet. */
const YOUNG_MS = 60_000;

const answers = (socket: string): Promise<boolean> =>
  new Promise((told) => {
    const line = connect(socket);
    line.once('connect', () => told(true)).once('error', () => told(false));
    line.once('connect', () => line.destroy());
  });

/** Removes the folders of killed relays: those at whose socket nobody answers. */
export async function removeLeftWaysOut(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER)) continue;
    const folder = join(tmpdir(), name);
    // Another relay may remove its folder meanwhile, and another user's folder is not readable.
    const old = await stat(folder).then(
      ({ mtimeMs }) => Date.now() - mtimeMs > YOUNG_MS,
      () => false,
    );
    if (old && !(await answers(join(folder, SOCKET))))
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

export async function openWayOut(network: Exclude<Network, 'none'>, deps: WayOutDeps): Promise<WayOut> {
  const { addresses, lookup = lookupWithin(addresses), ownHosts = [] } = deps;
  const open = new Set<Duplex>();
  const ownLookup = lookupWithin('any');
  const isOwn = ({ host, port }: Target) => mayReach(ownHosts, host, port);
  const lookupFor = (target: Target) => (isOwn(target) ? ownLookup : lookup);

  /** Why the target is refused, in a line for the command's output. Null: it is permitted. */
  function refusal(target: Target): string | null {
    const { host, port } = target;
    if (!isOwn(target) && !mayReach(network, host, port))
      return `${host}:${port} is not among the hosts that the human allows for this agent.`;
    const reach = isOwn(target) ? 'any' : addresses;
    return isIP(host) !== 0 && !fits(host, reach) ? `${host} is not an address that may be reached.` : null;
  }

  function passOn(received: IncomingMessage, answer: ServerResponse): void {
    const refuse = (status: number, why: string) => {
      received.resume();
      if (answer.headersSent) return void answer.destroy();
      answer.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why}\n`);
    };
    const target = targetOf(received.url ?? '', 80);
    if (!target) return refuse(400, 'This proxy forwards only absolute http:// addresses.');
    const why = refusal(target);
    if (why !== null) return refuse(403, why);
    const { url, host, port } = target;
    // The host header is the checked host, whatever the request says.
    const headers = { ...passedOn(received.headers), host: url.host };
    const onward = request({
      host,
      port,
      method: received.method,
      path: url.pathname + url.search,
      headers,
      lookup: lookupFor(target),
    });
    onward.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, passedOn(response.headers));
      response.pipe(answer).on('error', () => onward.destroy());
      response.on('error', () => answer.destroy());
    });
    onward.on('error', () => refuse(502, `${host}:${port} could not be reached.`));
    answer.on('close', () => onward.destroy());
    received.pipe(onward);
  }

  function tunnel(request: IncomingMessage, near: Duplex, head: Buffer): void {
    const refuse = (status: string, why: string) =>
      near.end(`HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n${why}\n`);
    near.on('error', () => near.destroy());
    const target = tunnelTargetOf(request.url ?? '');
    if (!target) return void refuse('400 Bad Request', 'The request names no host.');
    const why = refusal(target);
    if (why !== null) return void refuse('403 Forbidden', why);
    const { host, port } = target;
    const far = connect({ host, port, lookup: lookupFor(target) });
    open.add(far).add(near);
    let isOpen = false;
    far.once('connect', () => {
      isOpen = true;
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) far.write(head);
      near.pipe(far).pipe(near);
    });
    // For a name that does not resolve, no connection has begun.
    far.on('error', () => (isOpen ? near.destroy() : refuse('502 Bad Gateway', `${host} could not be reached.`)));
    for (const [one, other] of [
      [far, near],
      [near, far],
    ] as const)
      one.on('close', () => {
        open.delete(one);
        // The client must be able to read the refusal.
        if (isOpen || one === near) other.destroy();
      });
  }

  const server = createServer(passOn);
  server.maxConnections = CONNECTIONS;
  server.on('connect', tunnel);
  server.on('upgrade', (_asked, socket: Duplex) => socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
  const folder = await mkdtemp(join(tmpdir(), FOLDER));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(folder, SOCKET), resolve);
  });
  return {
    folder,
    async close() {
      for (const each of open) each.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
