/**
 * Decides which requests come from the relay's own pages. A rebound DNS name shows in `Host`.
 * Another website shows in `Origin` and `Sec-Fetch-Site`. Pure.
 */
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { browserOf, type Env, isCallPath } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Db } from '../store/index.ts';
import { hashOf, newSecret } from './credentials.ts';

// A second sign-in for a browser that shares its first one with another household. Both sign-ins
// belong to the home of the household that was proved last. The new one has the same page key, so a
// lost answer locks nobody out. It ends where a removed device has used the first one.

interface BesideDeps {
  readonly db: Db;
  /** The id of the relay. */
  readonly relay: string;
  readonly now: () => number;
}

/**
 * Gives the caller a second sign-in with the answer, and returns its id. Throws a problem where
 * there are too many.
 */
export type GiveBeside = (context: Context<Env>) => Promise<string>;

const full = () =>
  problem(
    409,
    'sign-ins-full',
    `This browser has been given ${QUOTAS.signInsBesideOne} sign-ins beside its own, and may have no more. Delete its cookies of this address, press Enter in the terminal where Roost runs, and open the link that it prints.`,
  );

export const createGiveBeside =
  ({ db, relay, now }: BesideDeps): GiveBeside =>
  async (context) => {
    const browser = browserOf(context);
    const rows = db.selectFrom('browsers').where('relay', '=', relay);
    const mine = rows.select(['family', 'key_hash']).where('token_hash', '=', browser);
    const { family: known, key_hash } = await mine.executeTakeFirstOrThrow();
    const family = known ?? browser;
    const given = await rows.select('token_hash').where('family', '=', family).execute();
    if (given.length >= QUOTAS.signInsBesideOne) throw full();
    const [token, time] = [newSecret(), now()];
    await db
      .insertInto('browsers')
      .values({
        ...{ relay, token_hash: hashOf(token), made_at: time, seen_at: time },
        ...{ key_hash, home: null, guest_until: null, family },
      })
      .execute();
    context.set('given', token);
    return hashOf(token);
  };

// Headers of every answer: load nothing from elsewhere, appear in no frame.

export const securityHeaders = () =>
  secureHeaders({
    // The relay's own pages have a stricter policy of their own.
    overwrite: false,
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      workerSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      styleSrc: ["'self'"],
      fontSrc: ["'self'"],
      manifestSrc: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // See below.
    strictTransportSecurity: false,
    // The camera reads the code on another device. Only this page may use it, and the browser asks
    // first.
    permissionsPolicy: { camera: ['self'], microphone: ['self'], geolocation: [], payment: [], usb: [] },
  });

/** s. */
const HSTS = 'max-age=31536000';

/**
 * Tells browsers to use only TLS for this name. The header covers every port of the name for a
 * year. So only a name with our own TLS on the default port gets it, and never `localhost`. Behind
 * a proxy, the proxy decides.
 */
export const onlyByTls =
  (name: string): MiddlewareHandler =>
  async (context, next) => {
    await next();
    if (context.req.header('host')?.toLowerCase() === name) context.header('strict-transport-security', HSTS);
  };

export interface Origins {
  isHost(host: string | undefined): boolean;
  isOrigin(origin: string): boolean;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/**
 * Wildcard addresses. They are no host names, and websites have used one to reach services on the
 * machine.
 */
const WILDCARDS = ['0.0.0.0', '::', '0:0:0:0:0:0:0:0'];

interface OriginsDeps {
  readonly port: number;
  /** The address to listen on. */
  readonly host: string;
  /** The address from elsewhere: by a TLS proxy, or by our own TLS. */
  readonly publicUrl: URL | null;
  /** The relay speaks TLS itself. */
  readonly tls: boolean;
  /** A proxy stands in front, and is the only way from elsewhere. */
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

interface FetchHeaders {
  readonly method: string;
  readonly path: string;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`, from browsers that send them. */
  readonly site: string | undefined;
  readonly mode: string | undefined;
  readonly dest: string | undefined;
}

/**
 * Whether this request comes from the relay's own page, from the person directly, or from no
 * browser.
 */
export function isOwnRequest({ method, path, origin, site, mode, dest }: FetchHeaders, origins: Origins): boolean {
  if (origin !== undefined && !origins.isOrigin(origin)) return false;
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // A link on another site to a page of ours. It reads and changes nothing.
  return method === 'GET' && mode === 'navigate' && dest === 'document' && !isCallPath(path);
}
