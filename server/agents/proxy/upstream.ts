/**
 * Requests to the server behind the proxy. They use node:http, which changes no byte of a body and
 * does not follow a redirect with a key.
 */
import http, { type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { KeyFilter, KeyHeader } from '../../platform/key-filter.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import { FIRST_VERSION, PROXY_LIMITS } from './settings.ts';

// Headers that pass in each direction: only those that the Messages API and its clients are known
// to use. So no key or cookie of a client reaches the upstream, and nothing of the upstream's
// connection reaches a client.

export interface UpstreamKey {
  readonly key: string | null;
  /** Null: the default of the upstream. */
  readonly keyHeader: KeyHeader | null;
  /** Without `/v1`. Null is Anthropic's own. */
  readonly baseUrl: string | null;
  /**
   * The server stops writing, and charges nothing more, on a disconnect. Left out: Anthropic's own
   * does.
   */
  readonly stopsWhenLeft?: boolean;
  /** Creates its connections, where some addresses are not permitted. */
  readonly createAgent?: () => Agent;
}

const REQUEST = new Set(['accept', 'content-type', 'idempotency-key', 'user-agent', 'x-app', 'x-client-request-id']);
const REQUEST_PREFIXES = ['anthropic-', 'x-stainless-', 'x-claude-'];
const RESPONSE = new Set([
  'cache-control',
  'content-type',
  'date',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  'x-should-retry',
]);
const RESPONSE_PREFIXES = ['anthropic-'];

/**
 * Whether this is Anthropic's own API. It accepts a key in the form of the client's generation. For
 * other servers the form is unknown.
 */
export const isOfficial = ({ baseUrl }: Pick<UpstreamKey, 'baseUrl'>): boolean =>
  baseUrl === null || new URL(baseUrl).host === new URL(OFFICIAL_API).host;

function keyForm(upstream: UpstreamKey, version: string): KeyHeader {
  if (upstream.keyHeader !== null) return upstream.keyHeader;
  if (!isOfficial(upstream)) return 'both';
  return version === FIRST_VERSION ? 'x-api-key' : 'bearer';
}

export function requestHeaders(sent: Headers, upstream: UpstreamKey): Record<string, string> {
  const headers: Record<string, string> = {};
  sent.forEach((value, name) => {
    if (REQUEST.has(name) || REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix))) headers[name] = value;
  });
  const version = (headers['anthropic-version'] ??= FIRST_VERSION);
  // The relay must be able to read what it counts.
  headers['accept-encoding'] = 'identity';
  const form = keyForm(upstream, version);
  if (upstream.key !== null && form !== 'x-api-key') headers['authorization'] = `Bearer ${upstream.key}`;
  if (upstream.key !== null && form !== 'bearer') headers['x-api-key'] = upstream.key;
  return headers;
}

/**
 * Leaves out headers that repeat the key, and the length and compression of the body, which is
 * passed on uncompressed and without the key.
 */
export function responseHeaders(sent: IncomingHttpHeaders, filter: KeyFilter): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    if (!RESPONSE.has(name) && !RESPONSE_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    if (filter.words(text) === text) headers[name] = text;
  }
  return headers;
}

// Errors of the proxy, in the form of the Messages API, so that any client can show them.

/** `retry`: a retry can help, so clients may retry by themselves. */
const KINDS = {
  'bad-credential': { status: 401, type: 'authentication_error', retry: false },
  'too-many-calls': { status: 429, type: 'rate_limit_error', retry: true },
  'no-agent': { status: 403, type: 'permission_error', retry: false },
  'no-upstream': { status: 400, type: 'invalid_request_error', retry: false },
  malformed: { status: 400, type: 'invalid_request_error', retry: false },
  'no-such-call': { status: 404, type: 'not_found_error', retry: false },
  'too-large': { status: 413, type: 'request_too_large', retry: false },
  'budget-used-up': { status: 402, type: 'billing_error', retry: false },
  busy: { status: 529, type: 'overloaded_error', retry: true },
  asleep: { status: 529, type: 'overloaded_error', retry: true },
  'session-ended': { status: 400, type: 'invalid_request_error', retry: false },
  'bad-key': { status: 400, type: 'invalid_request_error', retry: false },
  unreachable: { status: 502, type: 'api_error', retry: true },
  broken: { status: 500, type: 'api_error', retry: false },
} as const;

export interface ProxyError {
  readonly kind: keyof typeof KINDS;
  /** One or two sentences: what is wrong and what to do. Never contains a key or a credential. */
  readonly message: string;
}

const errorOf = ({ kind, message }: ProxyError) => ({ type: 'error', error: { type: KINDS[kind].type, message } });

export function errorResponse(error: ProxyError): Response {
  const { status, retry } = KINDS[error.kind];
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-should-retry': String(retry),
    ...(retry ? { 'retry-after': String(PROXY_LIMITS.retryAfterSeconds) } : {}),
  };
  return new Response(JSON.stringify(errorOf(error)), { status, headers });
}

/** One event of a stream. JSON text has no line breaks of its own, so one `data` line is enough. */
export const event = (name: string, data: unknown): Uint8Array =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`, 'utf8');

/** As `errorResponse`, for an answer that has already begun as a stream. */
export const errorEvent = (error: ProxyError): Uint8Array => event('error', errorOf(error));

export const PING: Uint8Array = event('ping', { type: 'ping' });

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  /** From `/v1` on, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly signal: AbortSignal;
  /**
   * Called before the request is sent again, when it is unknown whether the server read the first
   * one. Resolves with whether it may be.
   */
  readonly onLost?: () => Promise<boolean>;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Rejects where the upstream breaks off, or the signal aborts. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The connection broke before its end, as far as this machine knows. */
  isBroken(): boolean;
}

export interface Upstream {
  readonly host: string;
  /** Rejects where the server cannot be reached, is silent for too long, or the signal aborts. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * A reused connection that the other side has just closed, most likely before it read the request.
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

  function send(query: UpstreamRequest): Promise<UpstreamAnswer> {
    const { method, path, headers, body, signal, onLost } = query;
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
          .then((may) => (may ? send(query) : Promise.reject(error)))
          .then(resolve, reject);
      });
      request.end(body ?? undefined);
    });
  }

  return { host: base.host, send, close: () => lines.destroy() };
}
