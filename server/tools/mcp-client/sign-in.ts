/**
 * The sign-in to one attached server, by OAuth as MCP has it: its authorisation server is found,
 * Roost registers there as a client, the person allows it in their browser (PKCE), and what comes
 * back is kept sealed and renewed. Only what was asked for is taken: by its `state`, once, within
 * its time, from the authorisation server that was asked, and in the household whose page began it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  auth,
  type AuthProvider,
  extractWWWAuthenticateParams,
  type FetchLike,
  IssuerMismatchError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  refreshAuthorization,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { errorMessage } from '../../../src/shared/domain/platform/error-message.ts';
import { shownText } from '../../../src/shared/domain/names.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import type { AttachedServer, SignInStanding } from '../../../src/shared/protocol/attached.ts';
import type { MayConnect } from '../../../src/shared/protocol/models.ts';
import { checkAddress, createBoundedFetch } from '../../platform/guarded-fetch.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { type AttachedLimits, jsonOf } from './settings.ts';
import type { Link } from './link.ts';
import type { Attached, Refused } from './types.ts';

/**
 * What is kept of it, sealed. `discovery`: whom it was made with; `redirect`: where that sends the
 * person back to.
 */
const heldSchema = <Value>() => z.custom<Value>((value) => typeof value === 'object' && value !== null);
export const keptSignInSchema = z.object({
  redirect: z.string(),
  discovery: heldSchema<OAuthDiscoveryState>(),
  client: heldSchema<StoredOAuthClientInformation>(),
  /** Null: they are no longer taken, or the person has signed out. */
  tokens: heldSchema<StoredOAuthTokens>().nullable(),
});
type KeptSignIn = z.infer<typeof keptSignInSchema>;

/** It cannot be begun, or what came back is not taken: a sentence for the person. */
class SignInError extends Error {}

export interface SignIn {
  standing(): SignInStanding;
  /** For the line: the token that goes with each call, renewed where it is no longer taken. */
  readonly auth: AuthProvider;
  /**
   * Where the person allows it. `redirect`: the address that they are sent back to. Throws
   * `SignInError`.
   */
  begin(redirect: string): Promise<URL>;
  /** Whether this is the `state` of what was begun here last, and is still waited for. */
  waitsFor(state: string): boolean;
  /** With what they were sent back with. Throws `SignInError`; one answer is looked at once. */
  finish(query: URLSearchParams): Promise<void>;
  /**
   * The server does not take the token, though it is fresh: the person has to sign in again.
   * `scope`: what it wants besides.
   */
  refused(scope?: string): Promise<void>;
  /** Forgets the tokens, and what is waited for. */
  leave(): Promise<void>;
}

interface SignInDeps {
  readonly url: string;
  readonly kept: KeptSignIn | null;
  /** Registered by hand. Left out: Roost registers itself. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
  /** Resolves when it is kept. */
  readonly keep: (kept: KeptSignIn) => Promise<void>;
  /** Takes the tokens out of what the sign-in server says. */
  readonly filter: KeyFilter;
  /** Which addresses may be called. */
  readonly may: MayConnect;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  readonly limits: AttachedLimits;
}

interface Begun {
  readonly state: string;
  readonly redirect: string;
  readonly until: number;
  verifier: string;
  client: StoredOAuthClientInformation | null;
  discovery: OAuthDiscoveryState | null;
}

const NO_SIGN_IN = 'it asks for a sign-in, or does not take the key it was given';
const EXPIRED = 'the sign-in there has expired or was withdrawn: sign in again';
const NOT_BEGUN = 'This sign-in was not begun here, was used already, or took too long. Begin it once more.';
/**
 * An authorisation server that answers so is not well, or wants to be asked later. Every other
 * answer without a token is a refusal.
 */
const isUnwell = (status: number) => status >= 500 || status === 408 || status === 429;

const isSame = (one: string, other: string) => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * Whom it is for, as the authorisation server says it in an ID token; it came from there directly,
 * so no signature is checked.
 */
function whoOf(tokens: StoredOAuthTokens | null, { tokenChars }: Pick<AttachedLimits, 'tokenChars'>): string | null {
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
    // It says nothing that can be read: then it is not said who.
    return null;
  }
}

const issuerOf = ({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState) =>
  authorizationServerMetadata?.issuer ?? authorizationServerUrl;

/** Characters of a sign-in server's own words that are shown. */
const WORDS_CHARS = 300;

/** What went wrong, in words without anything that is secret. */
function wordsOf(error: unknown, filter: KeyFilter): string {
  if (error instanceof SignInError) return error.message;
  if (error instanceof IssuerMismatchError)
    return 'The answer comes from another sign-in server than the one that was asked. Nothing of it was taken.';
  const words = beginningOfText(shownText(filter.part(errorMessage(error), 0, WORDS_CHARS + 1)), WORDS_CHARS);
  return error instanceof OAuthError
    ? `The sign-in server refuses: ${words}`
    : `The sign-in server cannot be used: ${words}`;
}

/**
 * Throws where a token is longer than any that is known: each is looked for in whatever its server
 * says.
 */
function checkTokens(tokens: StoredOAuthTokens, { tokenChars }: Pick<AttachedLimits, 'tokenChars'>): void {
  for (const token of [tokens.access_token, tokens.refresh_token])
    if (token !== undefined && token.length > tokenChars)
      throw new SignInError(`The sign-in server gives a token of ${token.length} characters; ${tokenChars} are taken.`);
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { url, keep, filter, may, version, elapsed, limits } = deps;
  let kept = deps.kept;
  const registered: StoredOAuthClientInformation | null = deps.client
    ? {
        client_id: deps.client.id,
        ...(deps.client.secret === undefined ? {} : { client_secret: deps.client.secret }),
      }
    : null;
  let begun: Begun | null = null;
  /** What the server said where its sign-in is to be found. */
  let asked: { readonly resourceMetadataUrl?: URL; readonly scope?: string } = {};
  const bounded = createBoundedFetch({ messageBytes: limits.signInBytes, json: jsonOf(limits) }, deps.fetch);
  /** A server names further addresses: none of them may lead where its own may not. */
  const fetchFn: FetchLike = async (address, init) => {
    if ((await checkAddress(new URL(address), may)) === 'refused')
      throw new SignInError('Its sign-in is at an address that this household may not have the relay call.');
    return bounded(address, { ...init, signal: AbortSignal.timeout(limits.listMs) });
  };
  const waits = () => begun !== null && elapsed() < begun.until;

  /** What the SDK's flow reads and writes while `now` is under way. */
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
      clientInformation: () => now.client ?? undefined,
      saveClientInformation: (client) => void (now.client = client),
      tokens: () => undefined,
      saveTokens: onTokens,
      redirectToAuthorization: onward,
      saveCodeVerifier: (verifier) => void (now.verifier = verifier),
      codeVerifier: () => now.verifier,
      saveDiscoveryState: (discovery) => void (now.discovery = discovery),
      discoveryState: () => now.discovery ?? undefined,
      invalidateCredentials(what) {
        if (!registered && (what === 'all' || what === 'client')) now.client = null;
      },
    }) satisfies OAuthClientProvider;

  /**
   * Once for all who find at the same time that the token is no longer taken: a refresh token is
   * often good once.
   */
  const renew = singleFlight(async () => {
    const { discovery, client, tokens } = kept ?? {};
    if (!kept || !discovery || !client || !tokens?.refresh_token) {
      if (kept?.tokens) await keep((kept = { ...kept, tokens: null }));
      throw new UnauthorizedError(kept ? EXPIRED : NO_SIGN_IN);
    }
    /** What was answered last; null: nothing was. */
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
      kept = { ...kept, tokens: { ...tokens, ...fresh } };
    } catch (error) {
      if (answered === null || isUnwell(answered)) throw new Error(wordsOf(error, filter), { cause: error });
      await keep((kept = { ...kept, tokens: null }));
      throw new UnauthorizedError(EXPIRED);
    }
    await keep(kept);
  });

  return {
    standing() {
      const at = kept ? new URL(issuerOf(kept.discovery)).host : null;
      if (waits()) return { state: 'waiting', at, as: null };
      if (!kept) return { state: 'none', at: null, as: null };
      return { state: kept.tokens ? 'in' : 'expired', at, as: whoOf(kept.tokens, limits) };
    },
    auth: {
      token: () => Promise.resolve(kept?.tokens?.access_token),
      async onUnauthorized({ response }) {
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        asked = { ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}), ...(scope === undefined ? {} : { scope }) };
        await renew();
      },
    },
    async begin(redirect) {
      const now: Begun = {
        state: randomBytes(32).toString('base64url'),
        redirect,
        until: elapsed() + limits.signInMs,
        verifier: '',
        // A client is registered with where it sends people back to.
        client: registered ?? (kept?.redirect === redirect ? kept.client : null),
        discovery: null,
      };
      let onward: URL | null = null as URL | null;
      try {
        const provider = providerOf(
          now,
          (to) => void (onward = to),
          () => Promise.resolve(),
        );
        await auth(provider, { serverUrl: url, fetchFn, forceReauthorization: true, ...asked });
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
        // Before anything else of it is read: what another server says is nothing to show.
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
            kept = { redirect: now.redirect, discovery: now.discovery, client: now.client, tokens };
            await keep(kept);
          },
        );
        await auth(provider, {
          serverUrl: url,
          authorizationCode: query.get('code') ?? '',
          ...(iss === undefined ? {} : { iss }),
          fetchFn,
        });
      } catch (error) {
        throw new SignInError(wordsOf(error, filter), { cause: error });
      }
    },
    async refused(scope) {
      const before = asked.scope ?? kept?.tokens?.scope ?? '';
      const words = [...before.split(' '), ...(scope ?? '').split(' ')].filter((word) => word !== '');
      if (scope !== undefined) asked = { ...asked, scope: [...new Set(words)].join(' ') };
      if (kept?.tokens) await keep((kept = { ...kept, tokens: null }));
    },
    async leave() {
      begun = null;
      if (kept?.tokens) await keep((kept = { ...kept, tokens: null }));
    },
  };
}

// The person's sign-ins to attached servers: begun, come back from, and left.

/** What is used of a server. */
interface SignedIn {
  readonly link: Pick<Link, 'standing' | 'retry'>;
  /** Null: it is a program. */
  readonly signIn: SignIn | null;
}

interface SigningDeps<One> {
  readonly kept: ReadonlyMap<string, One>;
  readonly onChange: () => void;
  readonly show: (one: One) => AttachedServer;
}

function refusedSignIn(error: unknown): Refused {
  if (!(error instanceof SignInError)) throw error;
  return { refused: 'sign-in', reason: error.message };
}

export function createSigning<One extends SignedIn>({
  kept,
  onChange,
  show,
}: SigningDeps<One>): Pick<Attached, 'signIn' | 'signOut' | 'finishSignIn'> {
  return {
    async signIn(serverId, redirect) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (!one.signIn) return { refused: 'sign-in', reason: 'A program needs no sign-in.' };
      try {
        // What it says when it refuses names where its sign-in is.
        if (one.link.standing().state !== 'connected') await one.link.retry();
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
      if (one.link.standing().state === 'connected') await one.link.retry();
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
