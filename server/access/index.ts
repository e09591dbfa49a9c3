/**
 * Access to the relay: for browsers that opened a sign-in link, for API clients with a credential,
 * and for nobody else.
 *
 * This module checks `Host`, `Origin` and `Sec-Fetch-Site`. `sign-in.ts` turns one-time codes into
 * signed-in browsers, also the codes that a page shows for another device. `credentials.ts` has the
 * secrets of API clients, and `owner-rights.ts` what only the household of the relay's owner may
 * do.
 *
 * Main types: `Access`, `Credentials`, `Bearer`.
 *
 * Invariants:
 * - The store has secrets and codes as hashes only.
 * - Every process on one store refuses a revoked credential at once.
 * - A call without permission is refused before its body is read.
 *
 * It does not know what the calls do.
 */
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { getConnInfo } from '@hono/node-server/conninfo';
import { getCookie, setCookie } from 'hono/cookie';
import { DEVICE_CODES } from '../../src/shared/protocol/device-code-settings.ts';
import { credentialEndpoints, deviceCodeEndpoints } from '../../src/shared/protocol/endpoints/access.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { answer, browserOf, type Env, type Handled, isCallPath, lacks } from '../http/endpoint.ts';
import { misfitIn, problem, tooManyCalls } from '../http/problem.ts';
import { inHousehold } from '../platform/household-turns.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Db } from '../store/index.ts';
import type { Directory } from '../team/directory/index.ts';
import { badLinkPage, handOverPage, signInPage, wantsPage, welcomePage } from '../http/pages.ts';
import { type Bearer, type Credentials, hashOf, newSecret } from './credentials.ts';
import type { RateLimit, SignIn } from './sign-in.ts';
export { createDeviceCodeRoutes, createDeviceCodes, createRateLimit, type RateLimit, createSignIn } from './sign-in.ts';
export { createCredentials, type Bearer, type Credentials, hashOf } from './credentials.ts';

// Decides which requests come from the relay's own pages. A rebound DNS name shows in `Host`.
// Another website shows in `Origin` and `Sec-Fetch-Site`. Pure.

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
    const { family: ownFamily, key_hash } = await mine.executeTakeFirstOrThrow();
    const family = ownFamily ?? browser;
    const tokenRows = await rows.select('token_hash').where('family', '=', family).execute();
    if (tokenRows.length >= QUOTAS.signInsBesideOne) throw full();
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
  /** The relay is reached at this address too. */
  add(url: URL): void;
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
  const hosts = new Set(own);
  const origins = new Set(own.map((name) => new URL(`${scheme}://${name}`).origin));
  const add = (url: URL) => {
    hosts.add(url.host).add(`${url.hostname}:${url.port || '443'}`);
    origins.add(url.origin);
  };
  if (publicUrl) add(publicUrl);
  return {
    add,
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

// Endpoints with which the person creates and revokes credentials.

interface CredentialRoutesDeps {
  readonly credentials: Pick<Credentials, 'make' | 'full' | 'list' | 'revoke'>;
  readonly directory: Pick<Directory, 'all'>;
}

export function createCredentialRoutes({ credentials, directory }: CredentialRoutesDeps): readonly Handled[] {
  return answer(credentialEndpoints, {
    credentials: async () => ({ credentials: [...(await credentials.list())] }),
    async makeCredential({ body: { agentId, label, readsSoul, scopes } }) {
      const agent = agentId === null ? null : (await directory.all()).find((each) => each.agentId === agentId);
      if (agent === undefined) throw problem(404, 'unknown-agent', 'There is no such agent in this household.');
      if (agentId !== null && scopes !== undefined && scopes.length > 0)
        throw misfitIn('scopes', 'are for an application. An agent’s client may do what its agent’s settings allow.');
      if (agentId === null && label === '' && scopes?.includes('threads') === true)
        throw misfitIn('label', 'is missing: an application writes in threads under this name.');
      if (agent?.retired) throw problem(409, 'retired', `${agent.name} is retired; a retired agent cannot join.`);
      if (await credentials.full())
        throw problem(
          409,
          'credentials-full',
          `${QUOTAS.credentials.valid} credentials are valid in this household, which is the most. Revoke one that is no longer used, then make this one.`,
        );
      return await credentials.make(agentId, label, { readsSoul, scopes });
    },
    async revokeCredential({ credentialId }) {
      if (!(await credentials.revoke(credentialId))) throw problem(404, 'unknown', 'There is no such credential.');
      return null;
    },
  });
}

/** The source address of a call, for limits by address. */

/**
 * `proxied`: our own proxy appends the address that it sees to `X-Forwarded-For`. The part before
 * that came with the call and may be forged. Without a proxy the whole header may be forged.
 */
function addressOf(context: Context, proxied: boolean): string {
  const own = getConnInfo(context).remote.address ?? '';
  if (!proxied) return own;
  const added = context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
  return isIP(added) === 0 ? own : added;
}

/**
 * The page key of a call. It is never part of an address, because addresses appear in logs and
 * histories.
 */
function pageKeyOf({ req }: Context): string | undefined {
  const header = req.header(PAGE_KEY.header);
  if (header !== undefined) return header;
  const offered = req
    .header('sec-websocket-protocol')
    ?.split(',')
    .map((name) => name.trim());
  return offered?.find((name) => name.startsWith(PAGE_KEY.offered))?.slice(PAGE_KEY.offered.length);
}

interface AccessDeps {
  readonly origins: Origins;
  readonly signIn: SignIn;
  readonly rate: RateLimit;
  /** Cookies ignore ports, so two relays on one machine need two names. */
  readonly port: number;
  /** The relay is reached by TLS. */
  readonly secure: boolean;
  /** A proxy of ours stands in front and reports the source address of each call. */
  readonly proxied: boolean;
  /** ms. */
  readonly cookieMs: number;
  /** Secrets of API clients. */
  readonly credentials: Pick<Credentials, 'check'>;
}

export interface Access {
  /**
   * Refuses foreign hosts and other sites with a 403, and too many calls with a 429. Runs before
   * everything else. Sets the caller's address.
   */
  readonly own: MiddlewareHandler<Env>;
  /**
   * Refuses browsers that are not signed in with a 401. Sets the sign-in of one that is. Files of
   * the page need only the cookie. Every call also needs the page key, because the cookie goes to
   * every port of the host.
   */
  readonly signedIn: MiddlewareHandler<Env>;
  /** The sign-in of a browser that has one, for calls that anybody may make. */
  readonly browserOf: (context: Context) => Promise<string | null>;
  /** `GET /enter?code=…` */
  readonly enter: (context: Context<Env>) => Promise<Response>;
}

/** The secret of `Authorization: Bearer …`, or null. */
export function bearerOf(context: Context): string | null {
  return /^Bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? null;
}

/**
 * Endpoints that accept a credential as Bearer. An agent's own credential may ask only about that
 * agent.
 */
const forClients = Object.values<Endpoint>(ENDPOINTS).flatMap(({ method, path, aliases = [], access, scopes = [] }) =>
  access === 'agent' || access === 'client' || scopes.length > 0
    ? [path, ...aliases].map((each) => ({
        method,
        access,
        scopes,
        pattern: new RegExp(`^${each.replaceAll('{agentId}', '(?<agentId>[^/]+)').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      }))
    : [],
);

/**
 * Whether an API client may call this, besides `/mcp` and `/llm`. Throws a problem that names the
 * scope that an application lacks.
 */
function isForClient({ req }: Context, { agentId, scopes: has }: Bearer): boolean {
  for (const { method, access, scopes, pattern } of forClients) {
    const match = method === req.method ? pattern.exec(req.path) : null;
    if (!match) continue;
    if (agentId === null) {
      if (scopes.some((scope) => has.includes(scope))) return true;
      if (scopes.length > 0) throw problem(403, 'no-scope', lacks(scopes));
    }
    if (access === 'client') return true;
    const named = match.groups?.['agentId'];
    return access === 'agent' && agentId !== null && named !== undefined && safeDecode(named) === agentId;
  }
  return false;
}

/** Calls that another website may make: they need no cookie. */
const fromAnywhere = Object.values<Endpoint>(ENDPOINTS)
  .filter((each) => each.fromAnywhere)
  .map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
const isFromAnywhere = ({ req }: Context): boolean =>
  fromAnywhere.some(({ method, pattern }) => method === req.method && pattern.test(req.path));

function safeDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

const NO_PAGE_KEY =
  'This browser has lost its key to Roost, or had none yet. Press Enter in the terminal where Roost runs, and open the link that it prints in this browser.';

/**
 * What a guest browser may call, which came by a device's code, until its person has compared the
 * words. It may read its own state, which is an empty home, and join. It sees nothing of the
 * relay's households, and causes no costs.
 */
const mayAsGuest = ({ req: { method, path } }: Context): boolean =>
  method === 'GET' || path === deviceCodeEndpoints.leaveJoinOffer.path || path.startsWith('/api/sync/offers/');
const GUEST =
  'This browser came by the code of another device and has not joined yet. Compare the six words on both devices. Until then this browser may do nothing else here.';

/** The code in a pasted text, which is the code alone or a whole link. */
function codeOf(text: string): string {
  const pasted = text.trim();
  if (!URL.canParse(pasted)) return pasted;
  const { searchParams, hash } = new URL(pasted);
  const shown = `#${DEVICE_CODES.fragment}`;
  return searchParams.get('code') ?? (hash.startsWith(shown) ? hash.slice(shown.length) : pasted);
}

export function createAccess({
  origins,
  signIn,
  rate,
  port,
  secure,
  proxied,
  cookieMs,
  credentials,
}: AccessDeps): Access {
  // With this prefix only the very host can have set the cookie, by TLS.
  const prefix = secure ? 'host' : undefined;
  const cookie = `roost_${port}`;
  const setToken = (context: Context, token: string) =>
    setCookie(context, cookie, token, {
      httpOnly: true,
      sameSite: 'Strict',
      secure,
      path: '/',
      ...(prefix ? { prefix } : {}),
      maxAge: Math.floor(cookieMs / 1_000),
    });

  const tokenOf = (context: Context) => (prefix ? getCookie(context, cookie, prefix) : getCookie(context, cookie));

  function checkRate(caller: string): void {
    const seconds = rate.take(caller);
    if (seconds > 0) throw tooManyCalls(seconds);
  }

  /** For calls without a right secret. Calls with one have a bucket of their own. */
  const strangersAt = (context: Context<Env>) => `address ${context.get('address') ?? ''}`;

  async function knownBrowser(
    context: Context,
  ): Promise<{ token: string; browser: string; renew: boolean; own: boolean; guest: boolean } | null> {
    const token = tokenOf(context);
    if (token === undefined) return null;
    // Whose household it is, is known after this.
    const known = await inHousehold(token, () => signIn.check(token, pageKeyOf(context)));
    return known.ok ? { token, ...known } : null;
  }

  /** The credential of the call. Null for a browser. */
  async function clientOf(context: Context): Promise<Bearer | null> {
    const secret = bearerOf(context);
    return secret === null ? null : await inHousehold(secret, () => credentials.check(secret));
  }

  return {
    async browserOf(context) {
      const known = await knownBrowser(context);
      return known?.own ? known.browser : null;
    },
    async own(context, next) {
      const header = (name: string) => context.req.header(name);
      if (!origins.isHost(header('host')))
        throw problem(
          403,
          'other-host',
          'Roost does not answer at this address. Use the address that it printed when it started.',
        );
      const fetchHeaders = {
        method: context.req.method,
        path: context.req.path,
        origin: header('origin'),
        site: header('sec-fetch-site'),
        mode: header('sec-fetch-mode'),
        dest: header('sec-fetch-dest'),
      };
      context.set('address', addressOf(context, proxied));
      context.set('strangers', strangersAt(context));
      context.set('limit', rate.take);
      if (!isFromAnywhere(context) && !isOwnRequest(fetchHeaders, origins))
        throw problem(403, 'other-site', 'Another website may not call Roost.');
      await next();
    },
    async signedIn(context, next) {
      const browserToken = await knownBrowser(context);
      const isCall = isCallPath(context.req.path);
      if (browserToken === null || (isCall && !browserToken.own)) {
        const client = await clientOf(context);
        checkRate(client === null ? strangersAt(context) : `client ${client.credentialId}`);
        if (browserToken === null && wantsPage(context)) return signInPage();
        if (client !== null && isForClient(context, client)) {
          context.set('client', client);
          return next();
        }
        if (browserToken !== null) throw problem(401, 'no-page-key', NO_PAGE_KEY);
        if (client !== null)
          throw problem(
            401,
            'not-signed-in',
            'This credential may not make this call. Most calls are the page’s alone.',
          );
        throw problem(
          401,
          'not-signed-in',
          'This browser is not signed in. Open the link that Roost printed when it started.',
        );
      }
      if (isCall) checkRate(browserToken.browser);
      if (browserToken.guest && isCall && !mayAsGuest(context)) throw problem(403, 'guest', GUEST);
      context.set('browser', browserToken.browser);
      await next();
      // The cookie needs an answer, which exists only now.
      const token = context.get('given') ?? (browserToken.renew ? browserToken.token : undefined);
      if (token !== undefined) setToken(context, token);
    },
    async enter(context) {
      const browserToken = await knownBrowser(context);
      // Also for a browser that is signed in. It may have lost its key, and no page could show
      // that.
      const entered = await signIn.take(codeOf(context.req.query('code') ?? ''), browserToken?.token);
      if (entered === null) {
        checkRate(strangersAt(context));
        return browserToken === null ? badLinkPage() : welcomePage();
      }
      setToken(context, entered.token);
      const page = handOverPage(entered.key, entered.byDevice);
      return context.newResponse(page.body, 200, Object.fromEntries(page.headers));
    },
  };
}
