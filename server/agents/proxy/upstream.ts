/**
 * Requests to the server behind the proxy. By node:http, which changes no byte of a body and
 * follows no redirect with a key in hand.
 */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { PROXY_LIMITS } from './settings.ts';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  /** From `/v1` on, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly signal: AbortSignal;
  /** It would be sent once more, and whether the first was read nobody knows: whether it may. */
  readonly onLost?: () => Promise<boolean>;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Rejects where the upstream breaks off, or the signal aborts. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Its line has broken off before its end, as far as this machine knows. */
  isBroken(): boolean;
}

export interface Upstream {
  readonly host: string;
  /** Rejects where it cannot be reached, says nothing for too long, or the signal aborts. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Lets go of connections that nobody uses. */
  close(): void;
}

/**
 * A kept connection that the other side closed just now: in all likelihood before it read the
 * request.
 */
const isStale = (error: NodeJS.ErrnoException, request: http.ClientRequest) =>
  request.reusedSocket && error.code === 'ECONNRESET';

export function createUpstream(
  baseUrl: string,
  silenceMs: number = PROXY_LIMITS.upstreamSilenceMs,
  agent?: http.Agent,
): Upstream {
  const base = new URL(baseUrl);
  const secure = base.protocol === 'https:';
  const lines = agent ?? (secure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true }));
  const root = base.pathname.replace(/\/+$/, '');

  function send(asked: UpstreamRequest): Promise<UpstreamAnswer> {
    const { method, path, headers, body, signal, onLost } = asked;
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { 'content-length': String(body.byteLength) };
      const request = (secure ? https : http).request(new URL(`${root}${path}`, base), {
        method,
        agent: lines,
        signal,
        headers: { ...headers, ...length },
      });
      request.setTimeout(silenceMs, () => request.destroy(new Error(`nothing was said for ${silenceMs / 1_000} s`)));
      request.once('response', (answer: IncomingMessage) => {
        const isBroken = () => !answer.complete && (answer.destroyed || answer.errored !== null);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer, isBroken });
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (signal.aborted || !isStale(error, request)) return reject(error);
        (onLost?.() ?? Promise.resolve(true))
          .then((may) => (may ? send(asked) : Promise.reject(error)))
          .then(resolve, reject);
      });
      request.end(body ?? undefined);
    });
  }

  return { host: base.host, send, close: () => lines.destroy() };
}
