/**
 * The whole relay within the test's own process: its clock can be moved, and it lets in as many
 * browsers as are wanted.
 */
import { rm } from 'node:fs/promises';
import { readConfig } from '../../server/startup/config.ts';
import { findPackageRoot } from '../../server/startup/package-root.ts';
import { openRelay } from '../../server/relay.ts';
import type { SyncSettings } from '../../server/sync/settings.ts';
import { createHome, databaseOf } from './relay.ts';
import type { StoreKind } from './stores.ts';
import { headersOf, openLink, type SignIn } from './sign-in.ts';

export interface OpenRelay {
  readonly url: string;
  readonly home: string;
  /** Lets the relay's clocks go on. Timers are not moved by it. */
  pass(ms: number): void;
  /** Sets the wall clock alone, by so much; less than 0: back. */
  jump(ms: number): void;
  /**
   * Ends the relay in good order and starts it again, on the same home and port. Between the two it
   * waits for `meanwhile`.
   */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  /** A link that lets one browser in. */
  link(): Promise<string>;
  /** A browser that has opened a link of its own. */
  signIn(): Promise<Browser>;
  close(): Promise<void>;
}
export interface Browser {
  readonly url: string;
  signIn(): Promise<SignIn>;
  /** A call of its page; an object as `json` is sent as such. */
  fetch(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
}

/** A request as a signed-in browser sends it. */
export function browserOf(url: string, signIn: SignIn): Browser {
  return {
    url,
    signIn: () => Promise.resolve(signIn),
    async fetch(path, { json, ...init } = {}) {
      const headers = {
        ...headersOf(signIn),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...Object.fromEntries(new Headers(init.headers)),
      };
      return await fetch(new URL(path, url), {
        ...init,
        headers,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
    },
  };
}

export interface OpenRelayOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default 0: any free one. */
  readonly port?: number;
  readonly databaseUrl?: string;
  /** What keeps the store of a home that is made for this relay. */
  readonly store?: StoreKind;
  /** Is not removed at the end. */
  readonly home?: string;
  /** What is said at the terminal. */
  readonly say?: (line: string) => void;
  /**
   * What no argument can set so low. One sign-in may bring as many households as the relay takes,
   * unless this says otherwise.
   */
  readonly sync?: Partial<SyncSettings>;
  /** ms for which a write waits for its household's proof. */
  readonly proofMs?: number;
  /** Of a page that the test made. */
  readonly pageFolder?: string;
}

export async function openTestRelay({
  args = [],
  env = {},
  port: asked = 0,
  databaseUrl: givenUrl,
  home: given,
  store,
  sync = {},
  proofMs,
  pageFolder,
  say = () => undefined,
}: OpenRelayOptions = {}): Promise<OpenRelay> {
  const home = given ?? (await createHome({ store: givenUrl === undefined ? store : null }));
  const databaseUrl = givenUrl ?? databaseOf(home);
  const config = readConfig(
    ['--port', String(asked), '--home', home, '--no-open', '--no-warm-up', ...args],
    databaseUrl === undefined ? env : { ...env, DATABASE_URL: databaseUrl },
  );
  if (config === null) throw new Error('help was asked for');
  const root = findPackageRoot(import.meta.url);
  let ahead = 0;
  let jumped = 0;
  const open = (port: number | null) =>
    openRelay({
      config: {
        ...config,
        ...(port === null ? {} : { port }),
        sync: { ...config.sync, householdsBySignIn: config.sync.households, ...sync },
      },
      root: { ...root, pageFolder: pageFolder ?? root.pageFolder },
      say,
      now: () => Date.now() + ahead + jumped,
      elapsed: () => performance.now() + ahead,
      proofMs,
    });
  let relay = await open(null);
  const { url } = relay;
  return {
    url,
    home,
    async restart(meanwhile) {
      await relay.close();
      await meanwhile?.();
      relay = await open(Number(new URL(url).port));
    },
    pass(ms) {
      ahead += ms;
    },
    jump(ms) {
      jumped += ms;
    },
    link: () => relay.newLink(),
    async signIn() {
      return browserOf(url, await openLink(await relay.newLink()));
    },
    async close() {
      await relay.close();
      if (given === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}
