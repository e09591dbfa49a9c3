/**
 * Homes: the relay's side of each household. A home has its own event log with its own
 * acknowledgements, and its own team, session, messages, threads, limits, money and credentials. No
 * row of one home is ever read for another.
 *
 * Every sign-in belongs to one home. A new browser gets an empty home, and its first write begins a
 * household there. If other households live at this relay already, the person is asked first. A
 * household's devices prove to synchronisation which household they belong to. A device with such a
 * proof comes into that household's home.
 */
import type { Context } from 'hono';
import { createDeferred, type Deferred } from '../../src/shared/domain/platform/deferred.ts';
import { realTimers, within } from '../../src/shared/domain/platform/timers.ts';
import type { HomeStatus } from '../../src/shared/protocol/http.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { webhookEndpoints } from '../../src/shared/protocol/endpoints/webhooks.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import {
  homeEndpoints,
  probeEndpoints,
  relayEndpoints,
  sessionEndpoints,
} from '../../src/shared/protocol/endpoints/session.ts';
import { bearerOf, type GiveBeside, hashOf } from '../access/index.ts';
import { GIT_LANES } from '../platform/git/index.ts';
import { inHousehold } from '../platform/household-turns.ts';
import { createLanes, type LaneLimits } from '../platform/lanes.ts';
import { createProcesses } from '../platform/processes/index.ts';
import { storeTrouble } from '../store/index.ts';
import { createStarts } from '../agents/minds/acp/starts.ts';
import { PROGRAM_LIMITS } from '../agents/minds/acp/settings.ts';
import { COMMAND_LANES } from '../execution/sandbox/index.ts';
import { answer, browserOf, type Env, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import {
  type Begun,
  createRegistry,
  type HomeEntry,
  homeOfCredential,
  homeOfWebhook,
  isGivenBeside,
  notBegun,
} from './registry.ts';
import { openHome, type OpenHome, type OpenHomeDeps } from './open-home.ts';
import { createStreamLimit, type StreamLimit } from './session-routes.ts';
export { bytesOfBrowser } from './registry.ts';

interface HomesDeps extends Omit<OpenHomeDeps, 'checkStreams' | 'processes' | 'starts' | 'lanes' | 'household'> {
  /** Records which programs run beside the relay. No other relay uses it. */
  readonly processesFolder: string;
  /** The id of the whole relay, and of its first home. */
  readonly relay: string;
  /** Most homes with a household. */
  readonly most: number;
  /** Event streams of all homes together. */
  readonly mostStreams: number;
  /** Left out: `PROOF_MS`. */
  readonly proofMs?: number | undefined;
}

export interface Homes {
  /** The open homes. */
  open(): readonly OpenHome[];
  /** Whether a home has this id. */
  has(id: string): boolean;
  readonly checkStreams: StreamLimit;
  /** The home of this sign-in. */
  of(browser: string): Promise<OpenHome>;
  /** The home where this credential was created. The first home where it is unknown. */
  ofSecret(secret: string): Promise<OpenHome>;
  /** The home of the webhook with this secret. The first home where it is unknown. */
  ofWebhook(secret: string): Promise<OpenHome>;
  status(browser: string): Promise<HomeStatus>;
  /** Begins a household in the home of this sign-in, unless others live at this relay. */
  begin(browser: string): Promise<Begun>;
  /**
   * A page without a team begins a household. `beside`: also where others live at this relay. If
   * the sign-in's home already has a household that the page does not know, `anew` begins one with
   * a second sign-in. With neither flag the call is refused: the first sign-in belongs to the other
   * household, and either household's proof would move both along.
   */
  beginHousehold(browser: string, how: { readonly beside: boolean; readonly anew: boolean }): Promise<Begun>;
  /**
   * A device with this sign-in has proved its household, so the sign-in belongs to the household's
   * home. A sign-in of another household moves only where the device `joins`, so that remains of
   * its former household do not move it back.
   */
  member(household: string, browser: string, joins: boolean): Promise<void>;
  /**
   * This sign-in has followed this log before, under an earlier cookie. That is certain, because
   * nobody else knows a log's name. The sign-in returns to that log's home. Exceptions: it belongs
   * to another household, devices prove themselves there, or it was issued to leave that home.
   */
  comesBack(browser: string, log: string): Promise<void>;
  /** Ends the streams of these sign-ins, which have ended. */
  endStreamsOf(browsers: readonly string[]): void;
  /**
   * Ends every session and stream in good order. A failure does not stop the others. Rejects with
   * the first failure.
   */
  end(reason: 'shutdown' | 'crash'): Promise<void>;
  close(): Promise<void>;
}

/** Secrets whose home is cached, to save lookups for calls by credential. */
const SECRETS_KEPT = 1_000;
/** ms before a household that could not be opened is tried again. */
const REOPEN_MS = 60_000;
/**
 * ms for which a sign-in's writes wait for its household's proof, after it has named the log that
 * it follows. On a busy machine a page takes some seconds for the proof. No call of a page may take
 * longer than `RELAY_TIMES.call`.
 */
const PROOF_MS = 12_000;

const householdClosed = () =>
  problem(
    503,
    'household-closed',
    'Your household could not be opened at this relay. What is stored of it is kept. The relay tries again within a minute. If this stays, ask whoever runs the relay: its log says why.',
    { headers: { 'retry-after': String(REOPEN_MS / 1_000) } },
  );

export async function openHomes(deps: HomesDeps): Promise<Homes> {
  const { db, relay, most, proofMs = PROOF_MS } = deps;
  const starts = createStarts(PROGRAM_LIMITS);
  const gitLanes = createLanes(GIT_LANES);
  const commandLanes = createLanes(COMMAND_LANES);
  const processes = createProcesses(deps.processesFolder);
  const endedCount = await processes.endLeft();
  if (endedCount > 0)
    deps.logger.info('Sessions and runs that an earlier relay left running were ended.', { groups: endedCount });
  const opened = new Map<string, OpenHome>();
  const opening = new Map<string, Promise<OpenHome>>();
  const secrets = new Map<string, string>();
  const registry = createRegistry({
    ...deps,
    // Later events come from the log of its new home, so the stream must reconnect at once.
    onMoved(browser, to) {
      for (const [id, home] of opened) if (id !== to) home.streams.endOf([browser], 'moved');
    },
  });
  const checkStreams = createStreamLimit(deps.mostStreams, () => opened.values());

  /** Homes that could not be opened, and when the relay tried last: monotonic ms. */
  const closed = new Map<string, number>();

  async function openNow(id: string): Promise<OpenHome> {
    const household = () => registry.get(id)?.household ?? null;
    const lanes = { git: gitLanes(id), commands: commandLanes(id) };
    const parts = { ...deps, processes, starts, lanes, checkStreams, household };
    try {
      const home = await openHome(parts, id, () => orRefuse(id));
      opened.set(id, home);
      return home;
    } catch (error) {
      opening.delete(id);
      // Trouble of the store passes by itself, and is the same for every household.
      if (storeTrouble(error) !== null) throw error;
      closed.set(id, deps.elapsed());
      deps.logger.error('A household could not be opened. The others are served.', { home: id, error });
      throw householdClosed();
    }
  }
  function open({ id }: HomeEntry): Promise<OpenHome> {
    const under = opening.get(id);
    if (under) return under;
    if (deps.elapsed() - (closed.get(id) ?? -Infinity) < REOPEN_MS) return Promise.reject(householdClosed());
    const now = openNow(id);
    opening.set(id, now);
    return now;
  }
  /**
   * Sign-ins that follow the log of a household with proofs, and have not proved themselves yet.
   * They move into its home in a moment. Until then their writes would be refused, or begin another
   * home.
   */
  const proving = new Map<string, { readonly proof: Deferred<void>; readonly until: number }>();
  async function untilProven(browser: string): Promise<void> {
    const waits = proving.get(browser);
    if (!waits) return;
    // Another write may have used part of the time. Only the rest is waited for.
    await within(realTimers.after, Math.max(0, waits.until - deps.elapsed()), waits.proof.promise);
    if (deps.elapsed() >= waits.until) proving.delete(browser);
  }
  const others = ({ id }: HomeEntry) => registry.living().filter((each) => each.id !== id);

  const begin = (entry: HomeEntry, beside: boolean): Promise<Begun> =>
    entry.begun
      ? Promise.resolve({ ok: true })
      : registry.decide(async ({ note }): Promise<Begun> => {
          if (entry.begun) return { ok: true };
          if (!beside && others(entry).length > 0) return { ok: false, reason: 'others' };
          if (registry.living().length >= most) return { ok: false, reason: 'full' };
          await note(entry);
          return { ok: true };
        });
  async function orRefuse(id: string) {
    const entry = registry.get(id);
    const begun = entry && (await begin(entry, false));
    if (begun && !begun.ok) throw notBegun(begun.reason);
  }

  const isLivedIn = async (entry: HomeEntry): Promise<boolean> =>
    entry.begun && (await (await open(entry)).directory.isAnnounced());

  const firstEntry = await registry.decide(({ firstHome }) => firstHome());
  // Opening a home closes what a crash left open there. One that does not open keeps no other out.
  for (const entry of new Set([firstEntry, ...registry.living()]))
    await open(entry).catch((error: unknown) => {
      if (!closed.has(entry.id)) throw error;
    });

  return {
    open: () => [...opened.values()],
    has: (id) => registry.get(id) !== undefined,
    checkStreams,
    of: async (browser) => open(await registry.entryOf(browser)),
    async ofSecret(secret) {
      if (deps.alone && registry.all().length === 1) return open(firstEntry);
      const lending = [...opened.values()].find(({ credentials }) => credentials.lends(secret));
      if (lending) return lending;
      const hash = hashOf(secret);
      const id = secrets.get(hash) ?? (await homeOfCredential(db, relay, hash));
      if (id === null) return open(firstEntry);
      if (!registry.get(id)) await registry.reread();
      const entry = registry.get(id);
      if (!entry) return open(firstEntry);
      if (secrets.size >= SECRETS_KEPT) secrets.clear();
      secrets.set(hash, entry.id);
      return open(entry);
    },
    async ofWebhook(secret) {
      const id = await homeOfWebhook(db, relay, hashOf(secret));
      if (id !== null && !registry.get(id)) await registry.reread();
      const entry = id === null ? undefined : registry.get(id);
      return await open(entry ?? firstEntry);
    },
    async status(browser) {
      const entry = await registry.entryOf(browser);
      if (!deps.alone) await registry.reread();
      const count = others(entry).length;
      const lived = await isLivedIn(entry);
      return { begun: entry.begun, lived, others: count };
    },
    async begin(browser) {
      if (!(await registry.entryOf(browser)).begun) await untilProven(browser);
      return begin(await registry.entryOf(browser), false);
    },
    async beginHousehold(browser, { beside, anew }) {
      const entry = await registry.entryOf(browser);
      const isOthers = (await isLivedIn(entry)) || (anew && entry.household !== null);
      if (!isOthers) return begin(entry, beside);
      if (!anew) return beside ? { ok: true } : { ok: false, reason: 'others' };
      return registry.living().length >= most ? { ok: false, reason: 'full' } : { ok: true, beside: true };
    },
    async member(household, browser, joins) {
      const isThere = (home: HomeEntry | null) =>
        home?.household === household || (!joins && home !== null && home.household !== null);
      const proof = proving.get(browser)?.proof;
      const proven = () => {
        proof?.resolve();
        proving.delete(browser);
      };
      if (isThere(await registry.known(browser))) return proven();
      let openedHome: OpenHome | undefined;
      await registry.decide(async ({ known, freeHome, note, bind }) => {
        const here = await known(browser);
        if (isThere(here)) return;
        const there = registry.all().find((each) => each.household === household);
        if (there) return bind(browser, there);
        // The first device with this proof. If it lived with another household, it has left that
        // one.
        const entry = here && here.household === null ? here : await freeHome();
        await note(entry, { household });
        await bind(browser, entry);
        openedHome = opened.get(entry.id);
      });
      openedHome?.streams.greet();
      proven();
    },
    async comesBack(browser, log) {
      const entry = await registry.entryOf(browser);
      if (entry.begun) return;
      const there = [...opened.values()].find((home) => home.log.id === log);
      const target = there && registry.get(there.id);
      if (!target?.begun || (await isGivenBeside(db, relay, browser))) return;
      if (target.household === null) return registry.decide(({ bind }) => bind(browser, target));
      if (proving.size >= SECRETS_KEPT) proving.clear();
      if (!proving.has(browser)) proving.set(browser, { proof: createDeferred(), until: deps.elapsed() + proofMs });
    },
    endStreamsOf(browsers) {
      registry.forget(browsers);
      for (const home of opened.values()) home.streams.endOf(browsers, 'signed-out');
    },
    async end(reason) {
      const ends = await Promise.allSettled([...opened.values()].map((home) => home.end(reason)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
    async close() {
      for (const home of opened.values()) await home.close();
    },
  };
}

/**
 * Calls with which pages read, at once. Hundreds of one household would make each turn of the event
 * loop long, and every call needs several.
 */
const CALL_LANES: LaneLimits = { ofOne: 16, ofAll: 1_000, waiting: Infinity };

// Routes each call to a home, and has the endpoints with which a browser asks for one.

/**
 * The caller's home. A first write begins it. Throws a problem where the person must be asked
 * first.
 */
async function homeOf(homes: Homes, endpoint: Endpoint, context: Context<Env>): Promise<OpenHome> {
  const browser = context.get('browser');
  if (browser === undefined) return await homes.ofSecret(bearerOf(context) ?? '');
  if (endpoint === sessionEndpoints.events) {
    const log = context.req.query('log') ?? '';
    if (log !== '') await homes.comesBack(browser, log);
  } else if (endpoint.method !== 'GET' && endpoint.beginsNothing !== true) {
    const begun = await homes.begin(browser);
    if (!begun.ok) throw notBegun(begun.reason);
  }
  return await homes.of(browser);
}

/** For endpoints that check a credential themselves: in the path, or as bearer. */
async function homeOfSecret(homes: Homes, endpoint: Endpoint, context: Context<Env>): Promise<OpenHome> {
  if (endpoint === webhookEndpoints.callWebhook) return await homes.ofWebhook(context.req.param('secret') ?? '');
  const inPath = /^\/llm\/([^/]+)/.exec(context.req.path)?.[1];
  return await homes.ofSecret(inPath ?? bearerOf(context) ?? '');
}

/**
 * Every home has all endpoints but those of the relay itself and `others`. The app has each once
 * and passes it to the caller's home.
 */
export function createEachHome(homes: Homes, others: readonly Handled[]): readonly Handled[] {
  const ofRelay = Object.values({ ...probeEndpoints, ...relayEndpoints });
  const elsewhere = new Set<Endpoint>([...ofRelay, ...others.map(({ endpoint }) => endpoint)]);
  const own = Object.values<Endpoint>(ENDPOINTS).filter((endpoint) => !elsewhere.has(endpoint));
  const lanes = createLanes(CALL_LANES);
  return own.map((endpoint) => ({
    endpoint,
    async handle(context) {
      const home =
        endpoint.access === 'credential'
          ? await homeOfSecret(homes, endpoint, context)
          : await homeOf(homes, endpoint, context);
      const handled = home.endpoints.get(endpoint);
      if (!handled) throw new Error(`a home has no ${endpoint.method} ${endpoint.path}`);
      const work = () => inHousehold(home.id, () => handled.handle(context));
      // A body may come slowly, and a client may wait long for the work of an executor.
      const isReading = endpoint.method === 'GET' && (endpoint.access ?? 'page') === 'page';
      const response = await (isReading ? lanes(home.id)(work) : work());
      // A sign-in may move to another home while its stream is being opened. The stream would then
      // follow the old home for ever.
      const browser = context.get('browser');
      if (endpoint === sessionEndpoints.events && browser !== undefined && (await homes.of(browser)) !== home)
        home.streams.endOf([browser], 'moved');
      return response;
    },
  }));
}

export function createHomeRoutes(homes: Homes, giveBeside: GiveBeside): readonly Handled[] {
  return answer(homeEndpoints, {
    home: async (_, context) => await homes.status(browserOf(context)),
    async beginHome({ body }, context) {
      const begun = await homes.beginHousehold(browserOf(context), body);
      if (!begun.ok) throw notBegun(begun.reason);
      return await homes.status(begun.beside ? await giveBeside(context) : browserOf(context));
    },
  });
}
