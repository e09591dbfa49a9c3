/**
 * A line between browser and relay that can be cut: an HTTP proxy that the browser is told to use.
 */
import { createServer, request as ask, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Line {
  /** For a browser context: everything goes through here, loopback too. */
  readonly proxy: { readonly server: string; readonly bypass: string };
  /** Every connection ends now. */
  cut(): void;
  /** As `cut`, in the middle of the next thing that the relay says on each of them. */
  tear(): void;
  /** While it is down, nothing gets through. */
  down(so: boolean): void;
  close(): Promise<void>;
}

export async function createLine(): Promise<Line> {
  const sockets = new Set<Socket>();
  const tearing = new WeakSet<ServerResponse>();
  const answers = new Set<ServerResponse>();
  let isDown = false;
  const server = createServer((incoming, answer) => {
    answers.add(answer);
    const upstream = ask(
      new URL(incoming.url ?? ''),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (said) => {
        answer.writeHead(said.statusCode ?? 502, said.headers);
        answer.flushHeaders();
        said.on('data', (chunk: Buffer) => {
          if (!tearing.has(answer)) return answer.write(chunk);
          return answer.write(chunk.subarray(0, chunk.length / 2), () => answer.destroy());
        });
        said.on('end', () => answer.end());
        said.on('error', () => answer.destroy());
      },
    );
    // The relay is gone, or we ended it: to the browser both are a line that went dead.
    upstream.on('error', () => answer.destroy());
    answer.on('close', () => {
      answers.delete(answer);
      upstream.destroy();
    });
    incoming.pipe(upstream);
  });
  server.on('connection', (socket) => {
    if (isDown) return socket.destroy();
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    proxy: { server: `http://127.0.0.1:${address.port}`, bypass: '<-loopback>' },
    cut,
    tear() {
      for (const answer of answers) tearing.add(answer);
    },
    down(so) {
      isDown = so;
      if (so) cut();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
