/**
 * Homes: the relay's side of each household. A home has its own event log with its own acknowledgements, its own team,
 * session, mail, threads, limits, money and credentials; no row of one is ever read for another.
 *
 * Every sign-in belongs to one home. A browser that has just been let in gets one where nobody lives: with its first
 * write it begins to be somebody's, unless others live at this relay already; then the person is asked before. Which
 * household a home is of, its devices prove to synchronisation; whoever proves it comes into that home.
 */
import { createQueue } from '../../src/domain/platform/queue.ts';
import type { HomeStanding } from '../../src/protocol/http.ts';
import { hashOf } from '../access/index.ts';
import type { Db } from '../store/index.ts';
import { notBegun, type Begun } from './begun.ts';
import { openHome, type OpenHome, type OpenHomeDeps } from './open-home.ts';
import {
  bindBrowser,
  boundHomes,
  homeOfBrowser,
  homeOfCredential,
  insertHome,
  lockHomes,
  readHomes,
  updateHome,
} from './rows.ts';

export { bytesOfBrowser } from './rows.ts';
export type { OpenHome } from './open-home.ts';

export interface HomesDeps extends OpenHomeDeps {
  /** Names the whole relay, and its first home. */
  readonly relay: string;
  /** Most homes in which somebody lives. */
  readonly most: number;
}

export interface Homes {
  /** Those that are open now; the first is always. */
  open(): readonly OpenHome[];
  first(): OpenHome;
  /** Of this sign-in. */
  of(browser: string): Promise<OpenHome>;
  /** In which this credential was made; the first where it is unknown. */
  ofSecret(secret: string): Promise<OpenHome>;
  standing(browser: string): Promise<HomeStanding>;
  /** Somebody lives in the home of this sign-in from now on, unless others live at this relay. */
  begin(browser: string): Promise<Begun>;
  /**
   * A page without a team begins one. `beside`: also where others live at this relay. Where somebody lives in the home of
   * this sign-in already, whom the page knows nothing of, it gets another home with `anew`, and is refused without both.
   */
  beginHousehold(browser: string, how: { readonly beside: boolean; readonly anew: boolean }): Promise<Begun>;
  /**
   * This sign-in is of a device that has proven to be of this household: it belongs to the household's home. One of
   * another household moves only where the device `joins`: what is left of its former life does not call it back.
   */
  member(household: string, browser: string, joins: boolean): Promise<void>;
  /**
   * This sign-in has followed this log before, under an earlier cookie: nobody else knows the name of a log. It comes
   * back into that log's home, unless it lives elsewhere, or devices prove themselves there.
   */
  comesBack(browser: string, log: string): Promise<void>;
  /** The one home that whoever has none may look at; null where that is not so. */
  lookedAt(browser: string): Promise<OpenHome | null>;
  /** Ends the streams of these sign-ins, which have ended. */
  endStreamsOf(browsers: readonly string[]): void;
  /** Ends every session and stream in good order; where one cannot be ended, the others are all the same. Rejects with the first failure. */
  end(reason: 'shutdown' | 'crash'): Promise<void>;
  close(): Promise<void>;
}

interface Entry {
  readonly id: string;
  begun: boolean;
  household: string | null;
  opening: Promise<OpenHome> | null;
}

/** A sign-in that belongs to this home from now on. */
interface Move {
  readonly browser: string;
  readonly to: string;
}

/** Secrets whose home is remembered, so that calls by credential need not look for it. */
const SECRETS_KEPT = 1_000;

export async function openHomes(deps: HomesDeps): Promise<Homes> {
  const { db, relay, now, newId, most } = deps;
  const entries = new Map<string, Entry>();
  const opened = new Map<string, OpenHome>();
  const bound = new Map<string, string>();
  const secrets = new Map<string, string>();
  const inTurn = createQueue();
  /** Of the decision that is being made. */
  const moves: Move[] = [];

  /** What the store says of homes now: another process of this relay may have begun some. */
  async function reread(trx: Db): Promise<void> {
    for (const { home, begun_at, household } of await readHomes(trx, relay)) {
      const entry = entries.get(home) ?? { id: home, begun: false, household: null, opening: null };
      entry.begun = begun_at !== null;
      entry.household = household;
      entries.set(home, entry);
    }
  }
  /** One decision after the other, in every process of this relay, on what the store says then. */
  const decide = <Result>(work: (trx: Db) => Promise<Result>): Promise<Result> =>
    inTurn(async () => {
      try {
        const result = await db.transaction().execute(async (trx) => {
          await lockHomes(trx, relay);
          await reread(trx);
          return await work(trx);
        });
        for (const move of moves.splice(0)) endFormerStreams(move);
        return result;
      } catch (error) {
        moves.length = 0;
        // What was noted here went with the transaction.
        await reread(db);
        throw error;
      }
    });

  async function addHome(trx: Db, id: string): Promise<Entry> {
    await insertHome(trx, relay, id, now());
    const entry: Entry = { id, begun: false, household: null, opening: null };
    entries.set(id, entry);
    return entry;
  }

  function open(entry: Entry): Promise<OpenHome> {
    entry.opening ??= openHome(deps, entry.id, () => orRefuse(entry)).then(
      (home) => {
        opened.set(entry.id, home);
        return home;
      },
      (error: unknown) => {
        entry.opening = null;
        throw error;
      },
    );
    return entry.opening;
  }
  const orRefuse = async (entry: Entry) => {
    const begun = await begin(entry, false);
    if (!begun.ok) throw notBegun(begun.reason);
  };

  const living = () => [...entries.values()].filter(({ begun }) => begun);
  const others = (entry: Entry) => living().filter((each) => each !== entry);

  async function note(trx: Db, entry: Entry, change: { readonly household?: string }): Promise<void> {
    await updateHome(trx, relay, entry.id, { ...change, ...(entry.begun ? {} : { begun_at: now() }) });
    entry.begun = true;
    entry.household = change.household ?? entry.household;
  }

  const begin = (entry: Entry, beside: boolean): Promise<Begun> =>
    entry.begun
      ? Promise.resolve({ ok: true })
      : decide(async (trx): Promise<Begun> => {
          if (entry.begun) return { ok: true };
          if (!beside && others(entry).length > 0) return { ok: false, reason: 'others' };
          if (living().length >= most) return { ok: false, reason: 'full' };
          await note(trx, entry, {});
          return { ok: true };
        });

  const isLivedIn = async (entry: Entry): Promise<boolean> =>
    entry.begun && (await (await open(entry)).directory.isAnnounced());

  /** One where nobody lives and that no sign-in belongs to. */
  async function freeHome(trx: Db): Promise<Entry> {
    const taken = await boundHomes(trx, relay);
    return [...entries.values()].find(({ id, begun }) => !begun && !taken.has(id)) ?? (await addHome(trx, newId()));
  }

  async function bind(trx: Db, browser: string, entry: Entry): Promise<void> {
    await bindBrowser(trx, relay, browser, entry.id);
    bound.delete(browser);
    moves.push({ browser, to: entry.id });
  }
  /** What it hears from now on comes from the log of its new home. Only once that is committed: it comes back at once. */
  function endFormerStreams({ browser, to }: Move): void {
    bound.delete(browser);
    for (const [id, home] of opened) if (id !== to) home.streams.endOf([browser], 'moved');
  }

  async function known(browser: string, trx: Db = db): Promise<Entry | null> {
    const id = bound.get(browser) ?? (await homeOfBrowser(trx, relay, browser));
    if (id === null) return null;
    if (deps.alone) bound.set(browser, id);
    if (!entries.has(id)) await reread(trx);
    return entries.get(id) ?? null;
  }

  const entryOf = async (browser: string): Promise<Entry> =>
    (await known(browser)) ??
    (await decide(async (trx) => {
      const already = await known(browser, trx);
      if (already) return already;
      const entry = await freeHome(trx);
      await bind(trx, browser, entry);
      return entry;
    }));

  const firstEntry = await decide(async (trx) => entries.get(relay) ?? (await addHome(trx, relay)));
  const first = await open(firstEntry);
  // What a crash left open there is closed now, whoever comes back.
  for (const entry of living()) await open(entry);

  return {
    open: () => [...opened.values()],
    first: () => first,
    of: async (browser) => open(await entryOf(browser)),
    async ofSecret(secret) {
      if (deps.alone && entries.size === 1) return first;
      const hash = hashOf(secret);
      const id = secrets.get(hash) ?? (await homeOfCredential(db, relay, hash));
      if (id === null) return first;
      if (!entries.has(id)) await reread(db);
      const entry = entries.get(id);
      if (!entry) return first;
      if (secrets.size >= SECRETS_KEPT) secrets.clear();
      secrets.set(hash, entry.id);
      return open(entry);
    },
    async standing(browser) {
      const entry = await entryOf(browser);
      if (!deps.alone) await reread(db);
      const count = others(entry).length;
      const lived = await isLivedIn(entry);
      return { begun: entry.begun, lived, others: count, look: !entry.begun && count === 1 };
    },
    begin: async (browser) => begin(await entryOf(browser), false),
    async beginHousehold(browser, { beside, anew }) {
      const entry = await entryOf(browser);
      if (!(await isLivedIn(entry))) return begin(entry, beside);
      if (!anew) return beside ? { ok: true } : { ok: false, reason: 'others' };
      return decide(async (trx): Promise<Begun> => {
        // Another tab may have done so meanwhile.
        if ((await known(browser, trx)) !== entry) return { ok: true };
        if (living().length >= most) return { ok: false, reason: 'full' };
        const another = await freeHome(trx);
        await note(trx, another, {});
        await bind(trx, browser, another);
        return { ok: true };
      });
    },
    async member(household, browser, joins) {
      const before = await known(browser);
      if (before?.household === household || (!joins && before !== null && before.household !== null)) return;
      await decide(async (trx) => {
        const here = await known(browser, trx);
        if (here?.household === household || (!joins && here !== null && here.household !== null)) return;
        const there = [...entries.values()].find((each) => each.household === household);
        if (there) return bind(trx, browser, there);
        // The first device that says so. One that lived with another household has left it.
        const entry = here && here.household === null ? here : await freeHome(trx);
        await note(trx, entry, { household });
        await bind(trx, browser, entry);
      });
    },
    async comesBack(browser, log) {
      const entry = await entryOf(browser);
      if (entry.begun) return;
      const there = [...opened.values()].find((home) => home.log.id === log);
      const target = there && entries.get(there.id);
      if (target?.begun && target.household === null) await decide((trx) => bind(trx, browser, target));
    },
    async lookedAt(browser) {
      const entry = await entryOf(browser);
      const [only, ...more] = others(entry);
      return !entry.begun && only && more.length === 0 ? open(only) : null;
    },
    endStreamsOf(browsers) {
      for (const browser of browsers) bound.delete(browser);
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
