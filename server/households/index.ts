/**
 * Homes: the relay's side of each household. A home has its own event log with its own
 * acknowledgements, its own team, session, messages, threads, limits, money and credentials; no row
 * of one is ever read for another.
 *
 * Every sign-in belongs to one home. A browser that has just been let in gets one where nobody
 * lives: with its first write it begins to be somebody's, unless others live at this relay already;
 * then the person is asked before. Which household a home is of, its devices prove to
 * synchronisation; whoever proves it comes into that home.
 */
import { createDeferred, type Deferred } from '../../src/shared/domain/platform/deferred.ts';
import { realTimers, within } from '../../src/shared/domain/platform/timers.ts';
import type { HomeStanding } from '../../src/shared/protocol/http.ts';
import { hashOf } from '../access/index.ts';
import { notBegun, type Begun } from './begun.ts';
import { openHome, type OpenHome, type OpenHomeDeps } from './open-home.ts';
import { createProcesses } from '../platform/processes/index.ts';
import { createStarts } from '../tools/acp/starts.ts';
import { PROGRAM_LIMITS } from '../tools/acp/settings.ts';
import { createRegistry, type HomeEntry, homeOfCredential, isGivenBeside } from './registry.ts';
import { createStreamLimit, type StreamLimit } from './session-routes.ts';

export { bytesOfBrowser } from './registry.ts';

export interface HomesDeps extends Omit<OpenHomeDeps, 'checkStreams' | 'processes' | 'starts' | 'household'> {
  /** Says which programs run beside the relay; no other relay has it. */
  readonly processesFolder: string;
  /** Names the whole relay, and its first home. */
  readonly relay: string;
  /** Most homes in which somebody lives. */
  readonly most: number;
  /** Event streams of all homes together. */
  readonly mostStreams: number;
}

export interface Homes {
  /** Those that are open now; the first is always. */
  open(): readonly OpenHome[];
  first(): OpenHome;
  /** Is there a home of this id? */
  has(id: string): boolean;
  readonly checkStreams: StreamLimit;
  /** Of this sign-in. */
  of(browser: string): Promise<OpenHome>;
  /** In which this credential was made; the first where it is unknown. */
  ofSecret(secret: string): Promise<OpenHome>;
  standing(browser: string): Promise<HomeStanding>;
  /** Somebody lives in the home of this sign-in from now on, unless others live at this relay. */
  begin(browser: string): Promise<Begun>;
  /**
   * A page without a team begins one. `beside`: also where others live at this relay. Where
   * somebody lives in the home of this sign-in already, whom the page knows nothing of, it begins
   * with `anew` by a sign-in of its own, and is refused without both: the one that it has is
   * theirs, and whichever of them proves its household would take the other along.
   */
  beginHousehold(browser: string, how: { readonly beside: boolean; readonly anew: boolean }): Promise<Begun>;
  /**
   * This sign-in is of a device that has proven to be of this household: it belongs to the
   * household's home. One of another household moves only where the device `joins`: what is left of
   * its former life does not call it back.
   */
  member(household: string, browser: string, joins: boolean): Promise<void>;
  /**
   * This sign-in has followed this log before, under an earlier cookie: nobody else knows the name
   * of a log. It comes back into that log's home, unless it lives elsewhere, devices prove
   * themselves there, or it was given so as to leave it.
   */
  comesBack(browser: string, log: string): Promise<void>;
  /** The one home that whoever has none may look at; null where that is not so. */
  lookedAt(browser: string): Promise<OpenHome | null>;
  /** Ends the streams of these sign-ins, which have ended. */
  endStreamsOf(browsers: readonly string[]): void;
  /**
   * Ends every session and stream in good order; where one cannot be ended, the others are all the
   * same. Rejects with the first failure.
   */
  end(reason: 'shutdown' | 'crash'): Promise<void>;
  close(): Promise<void>;
}

/** Secrets whose home is remembered, so that calls by credential need not look for it. */
const SECRETS_KEPT = 1_000;
/**
 * ms, from when a sign-in says whose log it follows, for which its writes wait for the proof that
 * it is of that household. A page that is opened on a busy machine takes some seconds for it; no
 * call of a page may take longer than `RELAY_TIMES.call`.
 */
const PROOF_MS = 12_000;

export async function openHomes(deps: HomesDeps): Promise<Homes> {
  const { db, relay, most } = deps;
  const starts = createStarts(PROGRAM_LIMITS);
  const processes = createProcesses(deps.processesFolder);
  const left = await processes.endLeft();
  if (left > 0) deps.logger.info('What an earlier relay had left running was ended.', { groups: left });
  const opened = new Map<string, OpenHome>();
  const opening = new Map<string, Promise<OpenHome>>();
  const secrets = new Map<string, string>();
  const registry = createRegistry({
    ...deps,
    // What it hears from now on comes from the log of its new home: it comes back at once.
    onMoved(browser, to) {
      for (const [id, home] of opened) if (id !== to) home.streams.endOf([browser], 'moved');
    },
  });
  const checkStreams = createStreamLimit(deps.mostStreams, () => opened.values());

  function open({ id }: HomeEntry): Promise<OpenHome> {
    const household = () => registry.get(id)?.household ?? null;
    const parts = { ...deps, processes, starts, checkStreams, household };
    const under = opening.get(id) ?? openHome(parts, id, () => orRefuse(id));
    opening.set(id, under);
    return under.then(
      (home) => {
        opened.set(id, home);
        return home;
      },
      (error: unknown) => {
        opening.delete(id);
        throw error;
      },
    );
  }
  /**
   * Sign-ins that follow the log of a household whose devices prove themselves, and have not yet:
   * they come into its home in a moment. What they write until then would be refused, or begin
   * another home.
   */
  const proving = new Map<string, { readonly proof: Deferred<void>; readonly until: number }>();
  async function untilProven(browser: string): Promise<void> {
    const waits = proving.get(browser);
    if (!waits) return;
    // Another write may have waited in vain before: what is left is waited for all the same.
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

  const first = await open(await registry.decide(({ firstHome }) => firstHome()));
  // What a crash left open there is closed now, whoever comes back.
  for (const entry of registry.living()) await open(entry);

  return {
    open: () => [...opened.values()],
    first: () => first,
    has: (id) => registry.get(id) !== undefined,
    checkStreams,
    of: async (browser) => open(await registry.entryOf(browser)),
    async ofSecret(secret) {
      if (deps.alone && registry.all().length === 1) return first;
      const lending = [...opened.values()].find(({ credentials }) => credentials.lends(secret));
      if (lending) return lending;
      const hash = hashOf(secret);
      const id = secrets.get(hash) ?? (await homeOfCredential(db, relay, hash));
      if (id === null) return first;
      if (!registry.get(id)) await registry.reread();
      const entry = registry.get(id);
      if (!entry) return first;
      if (secrets.size >= SECRETS_KEPT) secrets.clear();
      secrets.set(hash, entry.id);
      return open(entry);
    },
    async standing(browser) {
      const entry = await registry.entryOf(browser);
      if (!deps.alone) await registry.reread();
      const count = others(entry).length;
      const lived = await isLivedIn(entry);
      return { begun: entry.begun, lived, others: count, look: !entry.begun && count === 1 };
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
      let told: OpenHome | undefined;
      await registry.decide(async ({ known, freeHome, note, bind }) => {
        const here = await known(browser);
        if (isThere(here)) return;
        const there = registry.all().find((each) => each.household === household);
        if (there) return bind(browser, there);
        // The first device that says so. One that lived with another household has left it.
        const entry = here && here.household === null ? here : await freeHome();
        await note(entry, { household });
        await bind(browser, entry);
        told = opened.get(entry.id);
      });
      told?.streams.greet();
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
      if (!proving.has(browser)) proving.set(browser, { proof: createDeferred(), until: deps.elapsed() + PROOF_MS });
    },
    async lookedAt(browser) {
      const entry = await registry.entryOf(browser);
      const [only, ...more] = others(entry);
      return !entry.begun && only && more.length === 0 ? open(only) : null;
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
