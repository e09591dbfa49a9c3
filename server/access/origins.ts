/**
 * Which requests are the relay's own. A name that was rebound to this machine shows in `Host`; another
 * website shows in `Origin` and `Sec-Fetch-Site`. Pure.
 */

export interface Origins {
  isHost(host: string | undefined): boolean;
  isOrigin(origin: string): boolean;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
const HTTP_PORT = 80;

/** `publicUrl`: a TLS proxy on this machine that leads here. */
export function createOrigins({ port, host, publicUrl }: { port: number; host: string; publicUrl: URL | null }): Origins {
  const names = new Set([...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host]);
  const own = [...names].flatMap((name) => (port === HTTP_PORT ? [name, `${name}:${port}`] : [`${name}:${port}`]));
  const hosts = new Set(publicUrl ? [...own, publicUrl.host, `${publicUrl.hostname}:${publicUrl.port || '443'}`] : own);
  const origins = new Set(own.map((name) => new URL(`http://${name}`).origin));
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

/** Does this request come from the relay's own page, from the person's own hand, or from no browser at all? */
export function isOwnRequest({ method, path, origin, site, mode, dest }: FetchHeaders, origins: Origins): boolean {
  if (origin !== undefined && !origins.isOrigin(origin)) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // A link on another site that is followed to a page of ours: it reads nothing and changes nothing.
  return method === 'GET' && mode === 'navigate' && dest === 'document' && !path.startsWith('/api/');
}
