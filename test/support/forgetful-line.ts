/**
 * A line to a Postgres server that loses answers: what is sent over it arrives and is done, and
 * nobody hears of that.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface ForgetfulLine {
  /** The server's address, over this line. */
  readonly url: string;
  /**
   * The answer to the next statement with this text is lost, and its connection with it. Resolves
   * when that has happened.
   */
  loseAnswerTo(statement: RegExp): Promise<void>;
  close(): Promise<void>;
}

export async function openForgetfulLine(to: string): Promise<ForgetfulLine> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let losing: { readonly statement: RegExp; readonly lost: () => void } | null = null;
  const hold = (socket: Socket) => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = hold(connect(Number(port), hostname));
    let lost: (() => void) | null = null;
    hold(client).on('data', (asked: Buffer) => {
      if (losing?.statement.test(asked.toString('latin1'))) {
        ({ lost } = losing);
        losing = null;
      }
      upstream.write(asked);
    });
    upstream.on('data', (said: Buffer) => {
      if (lost === null) return client.write(said);
      // It is ready for the next statement: this one is done. (Message Formats in Postgres's
      // manual.)
      if (said.at(-6) === 'Z'.charCodeAt(0)) {
        client.destroy();
        upstream.destroy();
        lost();
      }
      return undefined;
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port');
  const url = new URL(to);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    loseAnswerTo: (statement) => new Promise((lost) => (losing = { statement, lost })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
