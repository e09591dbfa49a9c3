/**
 * The homes, the household of each, and the home of each sign-in, as the store has them. Another
 * process of this relay may have changed them.
 */
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { problem } from '../http/problem.ts';
import { lockNamed } from '../store/dialect.ts';
import type { Db } from '../store/index.ts';

// Whether a browser has begun a household, and the refusal where it has not.

/** `beside`: it needs a second sign-in for that, because its own belongs to another household. */
export type Begun =
  | { readonly ok: true; readonly beside?: true }
  | { readonly ok: false; readonly reason: 'others' | 'full' };

export function notBegun(reason: Extract<Begun, { ok: false }>['reason']) {
  return reason === 'others'
    ? problem(
        409,
        'not-begun',
        'Another household lives at this relay. Join it from one of its devices, or begin a household of your own beside it.',
      )
    : problem(
        409,
        'households-full',
        'This relay keeps as many households as it may. Its owner can set --households higher.',
      );
}

// The SQL of homes, and of the home of a sign-in. `relay` is the id of the whole relay.

interface HomeRow {
  readonly home: string;
  /** ms since the epoch. Null: the home is empty. */
  readonly begun_at: number | null;
  readonly household: string | null;
}

/** Serialises all decisions about homes. */
async function lockHomes(db: Db, relay: string): Promise<void> {
  await lockNamed(db, `roost homes ${relay}`);
}

const readHomes = (db: Db, relay: string): Promise<readonly HomeRow[]> =>
  db
    .selectFrom('homes')
    .select(['home', 'begun_at', 'household'])
    .where('relay', '=', relay)
    .orderBy('made_at')
    .orderBy('home')
    .execute();

async function insertHome(db: Db, relay: string, home: string, now: number): Promise<void> {
  await db.insertInto('homes').values({ relay, home, made_at: now, begun_at: null, household: null }).execute();
}

async function updateHome(
  db: Db,
  relay: string,
  home: string,
  change: { readonly begun_at?: number; readonly household?: string },
): Promise<void> {
  await db.updateTable('homes').set(change).where('relay', '=', relay).where('home', '=', home).execute();
}

/** The home of this sign-in. Null where it has none yet, or has ended. */
async function homeOfBrowser(db: Db, relay: string, browser: string): Promise<string | null> {
  const row = await db
    .selectFrom('browsers')
    .select('home')
    .where('relay', '=', relay)
    .where('token_hash', '=', browser)
    .executeTakeFirst();
  return row?.home ?? null;
}

/** Whether it was issued beside another sign-in. */
export async function isGivenBeside(db: Db, relay: string, browser: string): Promise<boolean> {
  const row = await db
    .selectFrom('browsers')
    .select('family')
    .where('relay', '=', relay)
    .where('token_hash', '=', browser)
    .executeTakeFirst();
  return (row?.family ?? null) !== null;
}

async function bindBrowser(db: Db, relay: string, browser: string, home: string): Promise<void> {
  await db.updateTable('browsers').set({ home }).where('relay', '=', relay).where('token_hash', '=', browser).execute();
}

/** Homes with at least one sign-in. */
async function boundHomes(db: Db, relay: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('browsers')
    .select('home')
    .distinct()
    .where('relay', '=', relay)
    .where('home', 'is not', null)
    .execute();
  return new Set(rows.flatMap(({ home }) => (home === null ? [] : [home])));
}

/** Bytes of the sealed entries of this sign-in's household. Null where it has none here. */
export async function bytesOfBrowser(db: Db, relay: string, browser: string): Promise<number | null> {
  const row = await db
    .selectFrom('browsers')
    .innerJoin('homes', (join) =>
      join.onRef('homes.relay', '=', 'browsers.relay').onRef('homes.home', '=', 'browsers.home'),
    )
    .innerJoin('households', (join) =>
      join.onRef('households.relay', '=', 'homes.relay').onRef('households.household', '=', 'homes.household'),
    )
    .select('households.bytes')
    .where('browsers.relay', '=', relay)
    .where('browsers.token_hash', '=', browser)
    .executeTakeFirst();
  return row?.bytes ?? null;
}

/** The home where the credential with this hash was created. Null: none. */
export async function homeOfCredential(db: Db, relay: string, secretHash: string): Promise<string | null> {
  const row = await db
    .selectFrom('credentials')
    .innerJoin('homes', 'homes.home', 'credentials.home')
    .select('homes.home')
    .where('homes.relay', '=', relay)
    .where('credentials.secret_hash', '=', secretHash)
    .executeTakeFirst();
  return row?.home ?? null;
}

/** The home of the webhook with this secret. Null: there is no such webhook at this relay. */
export async function homeOfWebhook(db: Db, relay: string, secretHash: string): Promise<string | null> {
  const row = await db
    .selectFrom('hooks')
    .innerJoin('homes', 'homes.home', 'hooks.home')
    .select('homes.home')
    .where('homes.relay', '=', relay)
    .where('hooks.secret_hash', '=', secretHash)
    .executeTakeFirst();
  return row?.home ?? null;
}

export interface HomeEntry {
  readonly id: string;
  /** Whether a household lives in it. */
  readonly begun: boolean;
  readonly household: string | null;
}

/** What may be changed within one decision. */
interface Decision {
  /** The home of this sign-in. Null: none yet. */
  known(browser: string): Promise<HomeEntry | null>;
  /** Records that a household lives in it. */
  note(entry: HomeEntry, change?: { readonly household?: string }): Promise<void>;
  /** The home with the relay's own id. */
  firstHome(): Promise<HomeEntry>;
  /** An empty home without sign-ins. */
  freeHome(): Promise<HomeEntry>;
  bind(browser: string, entry: HomeEntry): Promise<void>;
}

interface Registry {
  all(): readonly HomeEntry[];
  get(id: string): HomeEntry | undefined;
  /** Homes with a household. */
  living(): readonly HomeEntry[];
  /**
   * Runs decisions one after another across all processes of this relay, on the current state of
   * the store. A decision is committed whole or not at all.
   */
  decide<Result>(work: (decision: Decision) => Promise<Result>): Promise<Result>;
  /** Reads the store again. */
  reread(): Promise<void>;
  /** The home of this sign-in. One without a home gets one. */
  entryOf(browser: string): Promise<HomeEntry>;
  known(browser: string): Promise<HomeEntry | null>;
  /** These sign-ins have ended. */
  forget(browsers: readonly string[]): void;
}

interface RegistryDeps {
  readonly db: Db;
  /** The id of the whole relay. */
  readonly relay: string;
  /** No other process can have this store open. */
  readonly alone: boolean;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** This sign-in now belongs to this home. Called only after the commit. */
  readonly onMoved: (browser: string, to: string) => void;
}

type Entry = { -readonly [Name in keyof HomeEntry]: HomeEntry[Name] };

export function createRegistry({ db, relay, alone, now, newId, onMoved }: RegistryDeps): Registry {
  const entries = new Map<string, Entry>();
  const bound = new Map<string, string>();
  const inTurn = createQueue();

  async function reread(trx: Db): Promise<void> {
    for (const { home, begun_at, household } of await readHomes(trx, relay)) {
      const entry = entries.get(home) ?? { id: home, begun: false, household: null };
      entry.begun = begun_at !== null;
      entry.household = household;
      entries.set(home, entry);
    }
  }

  async function known(browser: string, trx: Db = db): Promise<HomeEntry | null> {
    const id = bound.get(browser) ?? (await homeOfBrowser(trx, relay, browser));
    if (id === null) return null;
    if (alone) bound.set(browser, id);
    if (!entries.has(id)) await reread(trx);
    return entries.get(id) ?? null;
  }

  async function addHome(trx: Db, id: string): Promise<HomeEntry> {
    await insertHome(trx, relay, id, now());
    const entry = { id, begun: false, household: null };
    entries.set(id, entry);
    return entry;
  }

  const decisionOn = (trx: Db, moves: [browser: string, to: string][]): Decision => ({
    known: (browser) => known(browser, trx),
    async note({ id }, change = {}) {
      const entry = entries.get(id);
      if (!entry) throw new Error(`There is no home ${id}.`);
      await updateHome(trx, relay, id, { ...change, ...(entry.begun ? {} : { begun_at: now() }) });
      entry.begun = true;
      entry.household = change.household ?? entry.household;
    },
    firstHome: async () => entries.get(relay) ?? (await addHome(trx, relay)),
    async freeHome() {
      const taken = await boundHomes(trx, relay);
      const free = [...entries.values()].find(({ id, begun }) => !begun && !taken.has(id));
      return free ?? (await addHome(trx, newId()));
    },
    async bind(browser, { id }) {
      await bindBrowser(trx, relay, browser, id);
      bound.delete(browser);
      moves.push([browser, id]);
    },
  });

  const decide: Registry['decide'] = (work) =>
    inTurn(async () => {
      const moves: [browser: string, to: string][] = [];
      try {
        const result = await db.transaction().execute(async (trx) => {
          await lockHomes(trx, relay);
          await reread(trx);
          return await work(decisionOn(trx, moves));
        });
        for (const [browser, to] of moves) {
          bound.delete(browser);
          onMoved(browser, to);
        }
        return result;
      } catch (error) {
        // The transaction's changes are gone, so the cached state is read again.
        await reread(db);
        throw error;
      }
    });

  return {
    all: () => [...entries.values()],
    get: (id) => entries.get(id),
    living: () => [...entries.values()].filter(({ begun }) => begun),
    decide,
    reread: () => reread(db),
    known,
    entryOf: async (browser) =>
      (await known(browser)) ??
      (await decide(async (decision) => {
        const already = await decision.known(browser);
        if (already) return already;
        const entry = await decision.freeHome();
        await decision.bind(browser, entry);
        return entry;
      })),
    forget(browsers) {
      for (const browser of browsers) bound.delete(browser);
    },
  };
}
