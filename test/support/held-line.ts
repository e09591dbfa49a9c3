/**
 * A line between a browser and a relay that holds answers back: what is asked arrives, and what the
 * relay says waits until the test lets it through.
 */
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface HeldLine {
  /** The relay's address, over this line. */
  readonly url: string;
  /** From now on nothing that is asked below this path is answered. */
  hold(path: string): void;
  /** Resolves once something asks for what is held. */
  asked(): Promise<void>;
  /** Lets through what was held, and all that follows. */
  release(): void;
  close(): Promise<void>;
}

export async function openHeldLine(to: string): Promise<HeldLine> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let held: string | null = null;
  const heldNow: (() => void)[] = [];
  const whenAsked: (() => void)[] = [];
  /** The headers as the relay expects them at its own address. */
  const headersOf = ({ headers }: IncomingMessage) => ({
    ...headers,
    host: target.host,
    ...(headers.origin === undefined ? {} : { origin: target.origin }),
  });
  async function passes({ url = '' }: IncomingMessage): Promise<void> {
    if (held === null || !url.startsWith(held)) return;
    for (const tell of whenAsked.splice(0)) tell();
    await new Promise<void>((resolve) => void heldNow.push(resolve));
  }

  const server = createServer((asked, answer) => {
    const upstream = request(
      { host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers: headersOf(asked) },
      (said) => {
        void passes(asked).then(() => {
          answer.writeHead(said.statusCode ?? 502, said.headers);
          answer.flushHeaders();
          said.pipe(answer);
        });
      },
    );
    upstream.on('error', () => answer.destroy());
    answer.on('close', () => upstream.destroy());
    asked.pipe(upstream);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (asked: IncomingMessage, client: Socket, head: Buffer) => {
    const upstream = connect(Number(target.port), target.hostname);
    const lines = Object.entries(headersOf(asked)).map(([name, value]) => `${name}: ${String(value)}`);
    upstream.write(`GET ${asked.url ?? '/'} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    client.pipe(upstream);
    void passes(asked).then(() => upstream.pipe(client));
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port');
  const release = () => {
    held = null;
    for (const letThrough of heldNow.splice(0)) letThrough();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    hold: (path) => void (held = path),
    asked: () => new Promise((resolve) => void whenAsked.push(resolve)),
    release,
    close: () =>
      new Promise((resolve) => {
        release();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
