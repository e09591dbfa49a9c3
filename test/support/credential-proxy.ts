/**
 * Adds a credential to every request, for clients that cannot be told one. What they say of
 * themselves goes through: names other than this proxy's own, too.
 */
import { createServer, request as send } from 'node:http';

export interface CredentialProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** In front of a server on 127.0.0.1. `path`: what the URL ends with. */
export async function createCredentialProxy(port: number, path: string, secret: string): Promise<CredentialProxy> {
  let mine = 0;
  const server = createServer((incoming, outgoing) => {
    const own = (value: string | undefined) => value?.replaceAll(`:${mine}`, `:${port}`);
    const { host, origin, ...headers } = incoming.headers;
    const onward = send(
      {
        port,
        host: '127.0.0.1',
        method: incoming.method,
        path: incoming.url,
        headers: {
          ...headers,
          host: own(host),
          ...(origin === undefined ? {} : { origin: own(origin) }),
          authorization: `Bearer ${secret}`,
        },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    onward.on('error', (error) => outgoing.destroy(error));
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  mine = address.port;
  return {
    url: `http://127.0.0.1:${mine}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
