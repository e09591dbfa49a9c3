/** The whole relay as a process of its own, on a home and a port of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_MAIN, relayMain } from './relay-build.ts';
import { headersOf, openLink, type SignIn } from './sign-in.ts';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { usualStore, type StoreKind } from './stores.ts';

const START_TIMEOUT_MS = 30_000;

export interface RelayOptions {
  /** Further command line settings. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** An earlier relay's home, to start again on it. It is not removed by `stop`. */
  readonly home?: string;
  /** Of the same browser at the run before, whose port may have been another. */
  readonly signIn?: SignIn;
  /** Keep the store in this Postgres. */
  readonly databaseUrl?: string;
  /** What keeps the store of a home that is made for this relay. */
  readonly store?: StoreKind;
  /** Default 0: any free one. */
  readonly port?: number;
  /** `sources`, the default: as they are now. `built`: what `npm run build` has left in dist. */
  readonly from?: RelayOrigin;
  /**
   * At a terminal, as a person runs it, so that `newLink` can ask for more links. Linux only; end
   * it with SIGTERM.
   */
  readonly terminal?: boolean;
  /** Files and folders that it finds open at its start, by the number of their descriptor. */
  readonly inherits?: Readonly<Record<number, string>>;
}

/** `main`: of another package. `node`: another Node.js that runs it. */
export type RelayOrigin = 'sources' | 'built' | { readonly main: string; readonly node?: string };

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestRelay {
  readonly url: string;
  /** The one-time link that the relay printed; `signIn` uses it up. */
  readonly link: string;
  readonly port: number;
  readonly home: string;
  readonly pid: number;
  /** The browser that is signed in; opens the link on the first call. */
  signIn(): Promise<SignIn>;
  /** What its page sends with every call. */
  headers(): Promise<Record<string, string>>;
  /** A request of its page; `path` under `url`. An object as `json` is sent as such. */
  fetch(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  /** Presses Enter in its terminal and gives the link that it prints. */
  newLink(): Promise<string>;
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<ProcessEnd>;
  /**
   * Ends it in good order, and removes its home unless that was given. Harmless when it has ended.
   */
  stop(): Promise<ProcessEnd>;
  readonly ended: Promise<ProcessEnd>;
}

/** Most relays of the tests live for seconds: a warm-up would be a good part of their work. */
const NO_WARM_UP = { ROOST_NO_WARM_UP: '1' };

/** What our own environment says about relays must not reach those under test. */
function cleanEnv(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(ROOST_|ANTHROPIC_|DATABASE_URL$|VITEST|NODE_ENV$)/.test(name),
  );
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function watch(child: ChildProcess): { ended: Promise<ProcessEnd>; out: { stdout: string; stderr: string } } {
  const out = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...out }));
  });
  return { ended, out };
}

interface SpawnOptions {
  readonly from?: RelayOrigin;
  readonly terminal?: boolean;
  readonly inherits?: Readonly<Record<number, string>>;
}
const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

async function spawnRelay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { from = 'sources', terminal = false, inherits = {} }: SpawnOptions = {},
): Promise<ChildProcess> {
  const main = typeof from === 'object' ? from.main : from === 'built' ? BUILT_MAIN : await relayMain();
  const node = typeof from === 'object' ? from.node : undefined;
  const command = [node ?? process.execPath, main, ...args];
  const [program = '', ...words] = terminal
    ? ['script', '-qfec', `exec ${command.map(quoted).join(' ')}`, '/dev/null']
    : command;
  const stdio: (number | 'pipe' | 'ignore')[] = [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'];
  const opened = Object.entries(inherits).map(([fd, path]) => [Number(fd), openSync(path, 'r')] as const);
  for (const [fd, source] of opened) {
    while (stdio.length < fd) stdio.push('ignore');
    stdio[fd] = source;
  }
  try {
    const warmth = from === 'sources' ? NO_WARM_UP : {};
    return spawn(program, words, { env: { ...cleanEnv(), ...warmth, ...env }, stdio });
  } finally {
    for (const [, source] of opened) closeSync(source);
  }
}

/** Runs the relay's command to its end: for what ends by itself. */
export async function runRelayCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  from?: RelayOrigin,
): Promise<ProcessEnd> {
  return await watch(await spawnRelay(args, env, from === undefined ? {} : { from })).ended;
}

/** Databases of homes whose store is kept by the run's server. */
const databases = new Map<string, TestDatabase>();

/** Those of homes that are gone. */
async function dropDatabases(): Promise<void> {
  for (const [home, database] of databases) if (!existsSync(home) && databases.delete(home)) await database.drop();
}

/**
 * An empty home with a store, so that starting on it is quick; null: without one. Remove it
 * yourself.
 */
export async function createHome({
  store = usualStore(),
}: { store?: StoreKind | null | undefined } = {}): Promise<string> {
  await dropDatabases();
  const home = await mkdtemp(join(tmpdir(), 'roost-home-'));
  if (store === 'postgres') databases.set(home, await createDatabase());
  return home;
}

/** Where the store of a home is that `createHome` made; undefined: in the home itself. */
export const databaseOf = (home: string): string | undefined => databases.get(home)?.url;

const linkIn = (said: string): string | undefined => /^\s*(?:\S+\s+)*?(https?:\/\/\S+)\s/m.exec(said)?.[1];

/** Starts a relay and waits for its link. Rejects with what it said where it ends before that. */
export async function startRelay(options: RelayOptions = {}): Promise<TestRelay> {
  const home = options.home ?? (await createHome({ store: options.databaseUrl === undefined ? options.store : null }));
  const databaseUrl = options.databaseUrl ?? databaseOf(home);
  const args = ['--port', String(options.port ?? 0), '--home', home, '--no-open', ...(options.args ?? [])];
  const env = { ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }), ...options.env };
  const child = await spawnRelay(args, env, options);
  const { ended, out } = watch(child);
  const link = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => {
      child.kill('SIGKILL');
      reject(new Error(`the relay ${why}\n${out.stdout}\n${out.stderr}`));
    };
    const timer = setTimeout(() => fail('printed no link'), START_TIMEOUT_MS);
    const check = () => {
      const found = linkIn(out.stdout);
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout?.on('data', check);
    ended.then(({ code }) => {
      clearTimeout(timer);
      fail(`ended with ${code ?? 'a signal'}`);
    }, reject);
  });
  const { origin, port } = new URL(link);

  // A cookie is named by its relay's port.
  const before = options.signIn && {
    ...options.signIn,
    cookie: options.signIn.cookie.replace(/^((?:__Host-)?roost)_\d+=/, `$1_${port}=`),
  };
  let signedIn: Promise<SignIn> | null = before ? Promise.resolve(before) : null;
  const signIn = () => (signedIn ??= openLink(link));

  async function kill(signal: NodeJS.Signals): Promise<ProcessEnd> {
    child.kill(signal);
    return await ended;
  }

  return {
    url: origin,
    link,
    // A public address has another port.
    port: options.port || Number(port),
    home,
    pid: child.pid ?? 0,
    signIn,
    headers: async () => headersOf(await signIn()),
    async fetch(path, { json, ...init } = {}) {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(headersOf(await signIn()))) headers.set(name, value);
      if (json !== undefined) headers.set('content-type', 'application/json');
      return await fetch(new URL(path, origin), {
        ...init,
        headers,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
    },
    async newLink() {
      const before = out.stdout.length;
      child.stdin?.write('\r');
      for (
        const end = Date.now() + START_TIMEOUT_MS;
        Date.now() < end;
        await new Promise((resolve) => setTimeout(resolve, 20))
      ) {
        const found = linkIn(out.stdout.slice(before));
        if (found !== undefined) return found;
      }
      throw new Error(`the relay printed no further link\n${out.stdout}`);
    },
    kill,
    async stop() {
      const end = await kill('SIGTERM');
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
      return end;
    },
    ended,
  };
}
