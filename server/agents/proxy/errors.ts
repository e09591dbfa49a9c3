/** How the proxy says no: in the Messages API's own shape, so that any client can show it. */
import { PROXY_LIMITS } from './settings.ts';

/** `retry`: asking again can help, so clients may do so by themselves. */
const KINDS = {
  'bad-credential': { status: 401, type: 'authentication_error', retry: false },
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
  /** A sentence or two: what is wrong and what to do. Never holds a key or a credential. */
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

/** The same as `errorResponse`, where an answer has begun already as a stream. */
export const errorEvent = (error: ProxyError): Uint8Array => event('error', errorOf(error));

export const PING: Uint8Array = event('ping', { type: 'ping' });
