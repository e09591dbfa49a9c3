/**
 * Derives from an address the ways to ask its server: the protocol, and the base of its path.
 * People paste what a server's documentation shows: a base URL with or without its version, or the
 * full address of an endpoint. Where the address does not decide, each way is tried.
 */
import type { Protocol } from '../../../src/shared/protocol/models.ts';
import { KNOWN_HOSTS } from './settings.ts';

interface Way {
  readonly protocol: Protocol;
  /** For the Messages API without `/v1`. For others, everything before their path. */
  readonly address: string;
}

/** Endpoint paths by protocol. */
const CALLS: readonly (readonly [RegExp, Protocol])[] = [
  [/\/v1\/messages(?:\/count_tokens)?$/, 'messages'],
  [/\/messages$/, 'messages'],
  [/\/(?:chat\/)?completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/i, 'google'],
];

const withoutSlash = (path: string) => path.replace(/\/+$/, '');
const VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?$/;

/** The ways for this base, the likeliest first. */
function waysOf(origin: string, path: string): readonly Way[] {
  const at = (protocol: Protocol, rest: string): Way => ({ protocol, address: `${origin}${rest}` });
  // Gemini's own API, and its address for OpenAI clients.
  if (/\/v\d+(?:alpha|beta)\d*\/openai$/.test(path)) return [at('chat', path)];
  if (/\/v1beta$/.test(path)) return [at('google', path), at('chat', `${path}/openai`)];
  const base = path.replace(/\/v1$/, '');
  const chat = VERSION.test(path) ? path : `${path}/v1`;
  return [
    at('messages', base),
    at('chat', chat),
    // Some servers have no version in their paths.
    ...(chat === path ? [] : [at('chat', path)]),
  ];
}

/** `address`: an http or https URL. Returns at least one way. */
export function waysTo(address: string): readonly Way[] {
  const url = new URL(address);
  const { origin } = url;
  const path = withoutSlash(url.pathname);
  for (const [call, protocol] of CALLS)
    if (call.test(path)) {
      const base = withoutSlash(path.replace(call, ''));
      return [{ protocol, address: `${origin}${base}` }];
    }
  const stripped = withoutSlash(path.replace(/\/models$/, ''));
  const known = KNOWN_HOSTS[url.hostname];
  if (known && known.paths.includes(stripped))
    return known.ways.map((way) => ({ ...way, address: origin + way.address }));
  return waysOf(origin, stripped);
}
