/**
 * Which headers pass. Both ways only those that the Messages API and its clients are known to use:
 * so no key or cookie of a client reaches the upstream, and nothing of the upstream's connection
 * reaches a client.
 */
import type { Agent, IncomingHttpHeaders } from 'node:http';
import type { KeyFilter, KeyHeader } from '../../platform/key-filter.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import { FIRST_VERSION } from './settings.ts';

export interface UpstreamKey {
  readonly key: string | null;
  /** Null: what suits the upstream. */
  readonly keyHeader: KeyHeader | null;
  /** Without `/v1`; null is Anthropic's own. */
  readonly baseUrl: string | null;
  /**
   * It writes no more, and charges for no more, when it is left; left out: Anthropic's own does.
   */
  readonly stopsWhenLeft?: boolean;
  /** Makes its connections, where not every address may be called. */
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
 * Anthropic's own takes a key as the client's generation sends it; of other servers it is not known
 * which they read.
 */
/** Does it go to Anthropic's own API? */
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
  // What is counted must be readable.
  headers['accept-encoding'] = 'identity';
  const form = keyForm(upstream, version);
  if (upstream.key !== null && form !== 'x-api-key') headers['authorization'] = `Bearer ${upstream.key}`;
  if (upstream.key !== null && form !== 'bearer') headers['x-api-key'] = upstream.key;
  return headers;
}

/**
 * A header that repeats the key is left out; so is how long and how packed the body was, which is
 * passed on unpacked and without the key.
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
