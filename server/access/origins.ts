/**
 * Which requests are the relay's own. A name that was rebound to this machine shows in `Host`;
 * another website shows in `Origin` and `Sec-Fetch-Site`. Pure.
 */
import { isCallPath } from '../http/endpoint.ts';
import { isIP } from 'node:net';

export interface Origins {
  isHost(host: string | undefined): boolean;
  isOrigin(origin: string): boolean;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/**
 * Every address of the machine: no name of its own, and one by which websites have reached what
 * listens there.
 */
const WILDCARDS = ['0.0.0.0', '::', '0:0:0:0:0:0:0:0'];

export interface OriginsDeps {
  readonly port: number;
  /** The address that is listened on. */
  readonly host: string;
  /** Where it is reached from elsewhere: by a TLS proxy, or by our own TLS. */
  readonly publicUrl: URL | null;
  /** We speak TLS ourselves. */
  readonly tls: boolean;
  /** A proxy stands in front: from elsewhere it is reached by that alone. */
  readonly proxied: boolean;
}

export const isWildcard = (host: string): boolean => WILDCARDS.includes(host);
export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

export function createOrigins({ port, host, publicUrl, tls, proxied }: OriginsDeps): Origins {
  const [scheme, usualPort] = tls ? ['https', 443] : ['http', 80];
  const hasName = !isWildcard(host) && (isLoopback(host) || !proxied);
  const names = new Set([...LOOPBACK_NAMES, ...(hasName ? [bracketed(host)] : [])]);
  const own = [...names].flatMap((name) => (port === usualPort ? [name, `${name}:${port}`] : [`${name}:${port}`]));
  const hosts = new Set(publicUrl ? [...own, publicUrl.host, `${publicUrl.hostname}:${publicUrl.port || '443'}`] : own);
  const origins = new Set(own.map((name) => new URL(`${scheme}://${name}`).origin));
  if (publicUrl) origins.add(publicUrl.origin);
  return {
    isHost: (value) => value !== undefined && hosts.has(value.toLowerCase()),
    isOrigin: (value) => origins.has(value.toLowerCase()),
  };
}

export interface FetchHeaders {
  readonly method: string;
  readonly path: string;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`, from browsers that send them. */
  readonly site: string | undefined;
  readonly mode: string | undefined;
  readonly dest: string | undefined;
}

/**
 * Does this request come from the relay's own page, from the person's own hand, or from no browser
 * at all?
 */
export function isOwnRequest({ method, path, origin, site, mode, dest }: FetchHeaders, origins: Origins): boolean {
  if (origin !== undefined && !origins.isOrigin(origin)) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // A link on another site that is followed to a page of ours: it reads nothing and changes
  // nothing.
  return method === 'GET' && mode === 'navigate' && dest === 'document' && !isCallPath(path);
}
