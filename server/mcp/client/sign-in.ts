/**
 * The OAuth sign-in of one MCP server, as MCP defines it. Roost finds the authorisation server and
 * registers there as a client. The person allows it in their browser (PKCE). The tokens are stored
 * sealed, and renewed. A response is accepted only for a request of ours: with its `state`, once,
 * in time, from the authorisation server that was asked, and in the household whose page began it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { errorMessage } from '../../../src/shared/domain/platform/error-message.ts';
import { shownText } from '../../../src/shared/domain/names.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import type { McpServer, SignInStatus } from '../../../src/shared/protocol/mcp.ts';
import type { MayConnect } from '../../../src/shared/protocol/models.ts';
import { checkAddress, createBoundedFetch } from '../../platform/guarded-fetch.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { isSdkError, loadSdk } from './sdk.ts';
import { type McpLimits, jsonOf } from './settings.ts';
import type { Link } from './link-types.ts';
import type { McpServers, Refused } from './types.ts';

const heldSchema = <Value>() => z.custom<Value>((value) => typeof value === 'object' && value !== null);
/**
 * The stored state, sealed. `discovery`: the authorisation server that was used. `redirect`: the
 * address to which it returns the person.
 */
export const storedSignInSchema = z.object({
  redirect: z.string(),
  discovery: heldSchema<OAuthDiscoveryState>(),
  /** Null: the authorisation server does not know the client any more. */
  client: heldSchema<StoredOAuthClientInformation>().nullable(),
  /** Null: the tokens are no longer accepted, or the person has signed out. */
  tokens: heldSchema<StoredOAuthTokens>().nullable(),
});
type StoredSignIn = z.infer<typeof storedSignInSchema>;

/** The sign-in cannot begin, or its response is refused: a sentence for the person. */
class SignInError extends Error {}

export interface SignIn {
  status(): SignInStatus;
  /** For the connection: the token of each request, renewed when it is no longer accepted. */
  readonly auth: AuthProvider;
  /**
   * The page on which the person allows it. `redirect`: the address to which they return. Throws
   * `SignInError`.
   */
  begin(redirect: string): Promise<URL>;
  /** Whether this is the `state` of the newest sign-in that is still waited for. */
  waitsFor(state: string): boolean;
  /**
   * Completes the sign-in with the query of the returning request. Throws `SignInError`. Only one
   * response is processed at a time.
   */
  finish(query: URLSearchParams): Promise<void>;
  /**
   * The server refuses a fresh token, so the person must sign in again. `scope`: what it needs
   * besides.
   */
  refused(scope?: string): Promise<void>;
  /** Forgets the tokens and any sign-in that is waited for. */
  leave(): Promise<void>;
}

interface SignInDeps {
  readonly url: string;
  readonly kept: StoredSignIn | null;
  /** A client registered by hand. Left out: Roost registers itself. */
  readonly client?:
    | { readonly id: string; readonly secret?: string | undefined; readonly issuer?: string | undefined }
    | undefined;
  /** Resolves when the state is stored. */
  readonly keep: (kept: StoredSignIn) => Promise<void>;
  /** Removes the tokens from the sign-in server's output. */
  readonly filter: KeyFilter;
  /** Addresses that may be contacted. */
  readonly may: MayConnect;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly limits: McpLimits;
}

interface Begun {
  readonly state: string;
  readonly redirect: string;
  readonly until: number;
  verifier: string;
  client: StoredOAuthClientInformation | null;
  discovery: OAuthDiscoveryState | null;
}

const NO_SIGN_IN = 'it wants a sign-in, or does not accept the key';
const EXPIRED = 'the sign-in there has expired or was withdrawn: sign in again';
const OTHER_SERVER =
  'It names another sign-in server than the one that the client is for. Nothing was sent there. If the server has moved, remove it and add it again.';
const NOT_BEGUN = 'This sign-in was not begun here, was used already, or took too long. Begin it once more.';
/**
 * Statuses of an authorisation server that is unwell, or wants to be asked later. Any other answer
 * without a token is a refusal.
 */
const isUnwell = (status: number) => status >= 500 || status === 408 || status === 429;

/** The authorisation server does not know the client. */
const isUnknownClient = (error: unknown) =>
  isSdkError('OAuthError', error) && ['invalid_client', 'unauthorized_client'].includes(error.code);

const isSame = (one: string, other: string) => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * The account name in the authorisation server's ID token. The token came directly from that
 * server, so its signature is not checked.
 */
function whoOf(tokens: StoredOAuthTokens | null, { tokenChars }: Pick<McpLimits, 'tokenChars'>): string | null {
  const idToken = tokens?.id_token ?? '';
  const claims = idToken.length > tokenChars ? undefined : idToken.split('.')[1];
  if (claims === undefined) return null;
  try {
    const read = z
      .object({ email: z.string().optional(), preferred_username: z.string().optional(), name: z.string().optional() })
      .parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
    const who = read.email ?? read.preferred_username ?? read.name;
    return who === undefined ? null : beginningOfText(shownText(who), 120);
  } catch {
    // The token is unreadable, so the account is unknown.
    return null;
  }
}

/** Sign-in servers are written with a `/` at the end, and without. */
const isSameIssuer = (one: string, other: string) => one.replace(/\/$/, '') === other.replace(/\/$/, '');

const issuerOf = ({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState) =>
  authorizationServerMetadata?.issuer ?? authorizationServerUrl;

/** Characters of a sign-in server's own message that are shown. */
const WORDS_CHARS = 300;

/** The failure, in words without secrets. */
function wordsOf(error: unknown, filter: KeyFilter): string {
  if (error instanceof SignInError) return error.message;
  if (isSdkError('IssuerMismatchError', error))
    return 'The answer comes from another sign-in server than the one that was asked. Nothing of it was taken.';
  const words = beginningOfText(shownText(filter.part(errorMessage(error), 0, WORDS_CHARS + 1)), WORDS_CHARS);
  return isSdkError('OAuthError', error)
    ? `The sign-in server refuses: ${words}`
    : `The sign-in server cannot be used: ${words}`;
}

/**
 * Throws where a token is longer than any known one, because each token is searched for in the
 * server's output.
 */
function checkTokens(tokens: StoredOAuthTokens, { tokenChars }: Pick<McpLimits, 'tokenChars'>): void {
  for (const token of [tokens.access_token, tokens.refresh_token])
    if (token !== undefined && token.length > tokenChars)
      throw new SignInError(`The sign-in server gives a token of ${token.length} characters; ${tokenChars} are taken.`);
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { url, keep, filter, may, version, elapsed, limits } = deps;
  let servers = deps.kept;
  /**
   * The client that was registered by hand. It is for one sign-in server: the one that the person
   * named, or the one of the first sign-in. Otherwise an MCP server could choose who is sent the
   * secret.
   */
  function registered(): StoredOAuthClientInformation | null {
    if (!deps.client) return null;
    const { id, secret, issuer = servers ? issuerOf(servers.discovery) : undefined } = deps.client;
    return {
      client_id: id,
      ...(secret === undefined ? {} : { client_secret: secret }),
      ...(issuer === undefined ? {} : { issuer }),
    };
  }
  let begun: Begun | null = null;
  /** The server's latest information about where its sign-in is. */
  let challenge: { readonly resourceMetadataUrl?: URL; readonly scope?: string } = {};
  const bounded = createBoundedFetch({ messageBytes: limits.signInBytes, json: jsonOf(limits) }, deps.fetch);
  /** A server names further addresses. The rules for its own address apply to them too. */
  const fetchFn: FetchLike = async (address, init) => {
    if ((await checkAddress(new URL(address), may)) === 'refused')
      throw new SignInError('Its sign-in is at an address that this household may not have the relay call.');
    return bounded(address, { ...init, signal: AbortSignal.timeout(limits.listMs) });
  };
  const waits = () => begun !== null && elapsed() < begun.until;

  /** The state that the SDK's flow reads and writes for this sign-in. */
  const providerOf = (now: Begun, onward: (url: URL) => void, onTokens: (tokens: StoredOAuthTokens) => Promise<void>) =>
    ({
      redirectUrl: now.redirect,
      clientMetadata: {
        client_name: 'Roost',
        software_id: 'roost',
        software_version: version,
        redirect_uris: [now.redirect],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      state: () => now.state,
      clientInformation(context) {
        const of = now.client?.issuer;
        if (deps.client && of !== undefined && context && !isSameIssuer(of, context.issuer))
          throw new SignInError(OTHER_SERVER);
        return now.client ?? undefined;
      },
      saveClientInformation: (client) => void (now.client = client),
      tokens: () => undefined,
      saveTokens: onTokens,
      redirectToAuthorization: onward,
      saveCodeVerifier: (verifier) => void (now.verifier = verifier),
      codeVerifier: () => now.verifier,
      saveDiscoveryState: (discovery) => void (now.discovery = discovery),
      discoveryState: () => now.discovery ?? undefined,
      invalidateCredentials(what) {
        if (!deps.client && (what === 'all' || what === 'client')) now.client = null;
      },
    }) satisfies OAuthClientProvider;

  /**
   * One renewal for all requests that find the token expired at the same time. A refresh token is
   * often valid only once.
   */
  const renew = singleFlight(async () => {
    const { refreshAuthorization, UnauthorizedError } = await loadSdk();
    const { discovery, client, tokens } = servers ?? {};
    if (!servers || !discovery || !client || !tokens?.refresh_token) {
      if (servers?.tokens) await keep((servers = { ...servers, tokens: null }));
      throw new UnauthorizedError(servers ? EXPIRED : NO_SIGN_IN);
    }
    /** Status of the last response. Null: there was none. */
    let answered: number | null = null as number | null;
    try {
      const resource = discovery.resourceMetadata?.resource;
      const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
        ...(discovery.authorizationServerMetadata ? { metadata: discovery.authorizationServerMetadata } : {}),
        clientInformation: client,
        refreshToken: tokens.refresh_token,
        ...(resource === undefined ? {} : { resource }),
        async fetchFn(address, init) {
          const answer = await fetchFn(address, init);
          answered = answer.status;
          return answer;
        },
      });
      checkTokens(fresh, limits);
      servers = { ...servers, tokens: { ...tokens, ...fresh } };
    } catch (error) {
      if (answered === null || isUnwell(answered)) throw new Error(wordsOf(error, filter), { cause: error });
      await keep((servers = { ...servers, tokens: null, client: isUnknownClient(error) ? registered() : client }));
      throw new UnauthorizedError(EXPIRED);
    }
    await keep(servers);
  });

  return {
    status() {
      const at = servers ? new URL(issuerOf(servers.discovery)).host : null;
      if (waits()) return { state: 'waiting', at, as: null };
      if (!servers) return { state: 'none', at: null, as: null };
      return { state: servers.tokens ? 'in' : 'expired', at, as: whoOf(servers.tokens, limits) };
    },
    auth: {
      token: () => Promise.resolve(servers?.tokens?.access_token),
      async onUnauthorized({ response }) {
        const { extractWWWAuthenticateParams } = await loadSdk();
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        challenge = {
          ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
          ...(scope === undefined ? {} : { scope }),
        };
        await renew();
      },
    },
    async begin(redirect) {
      const now: Begun = {
        state: randomBytes(32).toString('base64url'),
        redirect,
        until: elapsed() + limits.signInMs,
        verifier: '',
        // A client is registered with its redirect address. If the last sign-in with it did not
        // return, the authorisation server may not know it any more, which only its page says.
        client: registered() ?? (servers?.redirect === redirect && begun === null ? servers.client : null),
        discovery: null,
      };
      let onward: URL | null = null as URL | null;
      try {
        const provider = providerOf(
          now,
          (to) => void (onward = to),
          () => Promise.resolve(),
        );
        const { auth } = await loadSdk();
        await auth(provider, { serverUrl: url, fetchFn, forceReauthorization: true, ...challenge });
      } catch (error) {
        throw new SignInError(wordsOf(error, filter), { cause: error });
      }
      if (!onward || !['http:', 'https:'].includes(onward.protocol) || !now.discovery)
        throw new SignInError('The sign-in server names no page on which you could allow it.');
      begun = now;
      return onward;
    },
    waitsFor: (state) => waits() && begun !== null && isSame(begun.state, state),
    async finish(query) {
      const now = begun;
      if (!now?.discovery || !waits() || !isSame(now.state, query.get('state') ?? '')) throw new SignInError(NOT_BEGUN);
      begun = null;
      const { authorizationServerMetadata: metadata } = now.discovery;
      const iss = query.get('iss') ?? undefined;
      try {
        const { auth, validateAuthorizationResponseIssuer } = await loadSdk();
        // Checked before anything else is read: the message of another server must not be shown.
        validateAuthorizationResponseIssuer({
          iss,
          expectedIssuer: metadata?.issuer,
          issParameterSupported: metadata?.['authorization_response_iss_parameter_supported'] === true,
        });
        if (query.has('error'))
          throw new SignInError(
            query.get('error') === 'access_denied'
              ? 'It was not allowed there. Nothing has changed.'
              : `The sign-in server refuses: ${beginningOfText(shownText(query.get('error') ?? ''), 100)}.`,
          );
        const provider = providerOf(
          now,
          () => undefined,
          async (tokens) => {
            if (!now.client || !now.discovery) throw new SignInError(NOT_BEGUN);
            checkTokens(tokens, limits);
            servers = { redirect: now.redirect, discovery: now.discovery, client: now.client, tokens };
            await keep(servers);
          },
        );
        await auth(provider, {
          serverUrl: url,
          authorizationCode: query.get('code') ?? '',
          ...(iss === undefined ? {} : { iss }),
          fetchFn,
        });
      } catch (error) {
        if (servers && isUnknownClient(error)) await keep((servers = { ...servers, client: registered() }));
        throw new SignInError(wordsOf(error, filter), { cause: error });
      }
    },
    async refused(scope) {
      const before = challenge.scope ?? servers?.tokens?.scope ?? '';
      const words = [...before.split(' '), ...(scope ?? '').split(' ')].filter((word) => word !== '');
      if (scope !== undefined) challenge = { ...challenge, scope: [...new Set(words)].join(' ') };
      if (servers?.tokens) await keep((servers = { ...servers, tokens: null }));
    },
    async leave() {
      begun = null;
      if (servers?.tokens) await keep((servers = { ...servers, tokens: null }));
    },
  };
}

// The person's sign-ins to MCP servers: start, return, and sign-out.

/** The parts of a server that are used here. */
interface SignedIn {
  readonly link: Pick<Link, 'status' | 'retry'>;
  /** Null: the server is a program. */
  readonly signIn: SignIn | null;
}

interface SigningDeps<One> {
  readonly kept: ReadonlyMap<string, One>;
  readonly onChange: () => void;
  readonly show: (one: One) => McpServer;
}

function refusedSignIn(error: unknown): Refused {
  if (!(error instanceof SignInError)) throw error;
  return { refused: 'sign-in', reason: error.message };
}

export function createSigning<One extends SignedIn>({
  kept,
  onChange,
  show,
}: SigningDeps<One>): Pick<McpServers, 'signIn' | 'signOut' | 'finishSignIn'> {
  return {
    async signIn(serverId, redirect) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (!one.signIn) return { refused: 'sign-in', reason: 'A program needs no sign-in.' };
      try {
        // A server's refusal names the place of its sign-in.
        if (one.link.status().state !== 'connected') await one.link.retry();
        const url = await one.signIn.begin(redirect);
        onChange();
        return url;
      } catch (error) {
        return refusedSignIn(error);
      }
    },
    async signOut(serverId) {
      const one = kept.get(serverId);
      if (!one) return null;
      await one.signIn?.leave();
      onChange();
      if (one.link.status().state === 'connected') await one.link.retry();
      return show(one);
    },
    async finishSignIn(query) {
      const one = [...kept.values()].find(({ signIn }) => signIn?.waitsFor(query.get('state') ?? ''));
      try {
        if (!one?.signIn) throw new SignInError(NOT_BEGUN);
        await one.signIn.finish(query);
      } catch (error) {
        return refusedSignIn(error);
      } finally {
        onChange();
      }
      await one.link.retry();
      return show(one);
    },
  };
}
