/** A line to a server on which what the server says comes one byte at a time. */
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export interface DrippingLine {
  readonly url: string;
  close(): Promise<void>;
}

/** `everyMs`: between two bytes; 0: each by itself, one right after the other. */
export async function openDrippingLine(to: string, everyMs: number): Promise<DrippingLine> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket
      .setNoDelay(true)
      .on('error', () => socket.destroy())
      .on('close', () => sockets.delete(socket));
    return socket;
  };
  async function drip(from: Socket, into: Socket): Promise<void> {
    for await (const chunk of from)
      if (chunk instanceof Buffer)
        for (const byte of chunk) {
          if (into.destroyed) return;
          into.write(Buffer.of(byte));
          await (everyMs === 0 ? nextTurn() : sleep(everyMs));
        }
    into.end();
  }
  const server = createServer((client) => {
    const upstream = hold(connect(Number(port), hostname));
    hold(client).pipe(upstream);
    client.on('close', () => upstream.destroy());
    drip(upstream, client).catch(() => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
