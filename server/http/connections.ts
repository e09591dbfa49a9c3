/**
 * Who holds a connection. Every socket is heard from its first byte to its close, so that nothing
 * that happens to one can end the process; and room is bounded: whoever does nothing with a
 * connection makes way, the longest first, so that thousands who never finish a request keep nobody
 * out. What comes from this machine has room of its own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { isIPv4, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ConnectionLimits {
  /**
   * Connections from this machine, where each call of an agent that sleeps is held on one of its
   * own.
   */
  readonly here: number;
  /** From all other machines together. */
  readonly elsewhere: number;
  /** From one address of another machine; null where a proxy speaks for all of them. */
  readonly perAddress: number | null;
}

/** ms that whoever is refused has to read why. */
const FAREWELL_MS = 500;

/**
 * Says the last that is said on this connection, and ends it, whether or not the other side lets
 * go.
 */
export function farewell(socket: Duplex, last: string | Uint8Array): void {
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(last);
}

interface Connection {
  readonly socket: Socket;
  readonly group: Group;
  /** Requests that are answered on it, and a WebSocket. */
  busy: number;
}

/** Those who share a limit, and of them those that do nothing, by how long already. */
interface Group {
  readonly most: number;
  readonly idle: Set<Connection>;
  count: number;
  readonly parent: Group | null;
}

const isHere = (address: string) => address === '::1' || /^(?:::ffff:)?127\./.test(address);
/** The holder of an address of version 6 has all that begin like it. */
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

/** Watches over the connections of a server from before it listens. */
export function guardConnections(
  server: Server | SecureServer,
  { here, elsewhere, perAddress }: ConnectionLimits,
): void {
  const ownHere = groupOf(here);
  const allElsewhere = groupOf(elsewhere);
  const byHolder = new Map<string, Group>();
  /**
   * By both ends' names: with TLS the socket that carries requests is another than the one that was
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

  /** Is there room now? Whoever does nothing for the longest time makes it. */
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
    // What was put back to be read as another request.
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
