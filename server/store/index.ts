/**
 * The relay's store: Postgres, with the same SQL and the same migrations wherever it runs. Without
 * a database URL it is PGlite, on disk inside the home.
 */
import { existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Kysely, Migrator, sql, type Migration } from 'kysely';
import { z } from 'zod';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import { openDatabaseClock } from './database-clock.ts';
import { openEngine, type Engine } from './engine.ts';
import { journalsIn, type Journal, type OpenJournal } from './journal.ts';
import { createEmbedded, type Embedded, type EngineSource } from './pglite-dialect.ts';
import { ALWAYS_THERE, type Database } from './database-watch.ts';
import { openServer } from './postgres.ts';
import { SCHEMA } from './schema.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './settings.ts';
import { schema } from './steps/0001-schema.ts';
import { StoreError } from './store-error.ts';
import type { Tables } from './tables.ts';

/**
 * Every step of the store, in order. A step that was released is never edited: a change is a new
 * step.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-schema': schema };

/**
 * Before 0.2 there were 38 steps, which ended where `0001-schema` does. A store that took all of
 * them goes on from there; of one that took fewer nobody knows the tables any more.
 */
const BEFORE_02 = { first: '0001-first', last: '0038-server-questions', count: 38 } as const;

/**
 * PGlite on disk. Making a store takes seconds and several hundred megabytes, once; both are spent
 * in a worker thread, so that the memory goes with it, and in a folder beside the final one, so
 * that a kill in the middle leaves nothing that looks like a store.
 */

/**
 * ms after an engine could not be opened before it is tried again; each try costs a quarter of a
 * second of the relay.
 */
const REOPEN_PAUSE_MS = 500;

/** Segments of the log of 1 MB, not 16. */
const INITDB = ['--wal-segsize=1'];
/** Two databases that others would be made from: two thirds of an empty store's files. */
const TRIM = [
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
  'checkpoint',
];

/**
 * CommonJS, as a worker made from text is; the package's address is resolved out here, where it is
 * known.
 */
const MAKER = `
const { workerData } = require('node:worker_threads');
import(workerData.pglite).then(async ({ PGlite }) => {
  const made = await PGlite.create({ dataDir: workerData.folder, initDbStartParams: workerData.initdb });
  for (const statement of workerData.trim) await made.exec(statement);
  await made.close();
});
`;

/** A file, or the names in a folder. */
async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  await Promise.all(entries.map((entry) => (entry.isDirectory() ? flushTree : flushFile)(join(folder, entry.name))));
  await flushFile(folder);
}

async function makeStore(folder: string): Promise<void> {
  const making = `${folder}.making`;
  await rm(making, { recursive: true, force: true });
  const workerData = {
    pglite: import.meta.resolve('@electric-sql/pglite'),
    folder: making,
    initdb: INITDB,
    trim: TRIM,
  };
  const worker = new Worker(MAKER, { eval: true, workerData });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the worker ended with ${code}`))));
  });
  await flushTree(making);
  await rename(making, folder);
  await flushFile(dirname(folder));
}

/**
 * An engine that died is left, and another opened on its folder, where Postgres recovers what was
 * committed.
 */
function createEngineSource(folder: string, first: Engine, now: () => number): EngineSource {
  let engine = first;
  let closed = false;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  return {
    async get() {
      if (closed || !engine.dead()) return engine;
      if (failed && now() - failed.at < REOPEN_PAUSE_MS) throw failed.error;
      try {
        engine = await openEngine(folder);
        failed = null;
      } catch (error) {
        failed = { at: now(), error };
        throw error;
      }
      return engine;
    },
    async close() {
      closed = true;
      await engine.close();
    },
  };
}

/** The embedded store in `folder`. Throws `StoreError` where it cannot be made or opened. */
async function openEmbedded(folder: string, onFirst?: () => void): Promise<Embedded> {
  try {
    if (!existsSync(folder)) {
      onFirst?.();
      await makeStore(folder);
    }
    return createEmbedded(createEngineSource(folder, await openEngine(folder), () => performance.now()));
  } catch (error) {
    const reason = errorMessage(error);
    throw new StoreError(`The store in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}

/** Text in the columns whose names end in `_json`; why it is kept so stands in tables.ts. */

/** The text that such a column holds. Throws where it holds anything else. */
export const parseText = (json: string): string => z.string().parse(JSON.parse(json));

export type { Journal, OpenJournal } from './journal.ts';
export { ALWAYS_THERE, type Database, type DatabaseState } from './database-watch.ts';
export { enduring, repeated, writeOnce } from './in-doubt.ts';
export { DatabaseAway, isAway, isUnstorable, StoreError, storeTrouble } from './store-error.ts';
export type Db = Kysely<Tables>;

export interface Store {
  readonly kind: 'pglite' | 'postgres';
  /** Every table is addressed in its schema. */
  readonly db: Db;
  /**
   * For who writes often and alone; null for a Postgres server, which other processes write to as
   * well.
   */
  readonly openJournal: OpenJournal | null;
  /** Whether it can be reached; the embedded one always can. */
  readonly database: Database;
  /** ms since the epoch, the same for all processes of this store: see database-clock.ts. */
  readonly now: () => number;
  /** The relay ends: a database that is away is waited for no longer than `leaveMs`. */
  leave(): void;
  /**
   * Gives back the room of what was dropped, now; by itself this happens in quiet moments. A
   * Postgres server does it alone.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Folder of the embedded store; made where it is missing. */
  readonly folder: string;
  /** A real Postgres instead; null for the embedded one. */
  readonly databaseUrl: string | null;
  /** Called before the embedded store is made, which takes some seconds, once. */
  readonly onFirst?: () => void;
  /** A connection to a real Postgres broke while idle; the next query opens another. */
  readonly onIdleError?: (error: Error) => void;
  readonly limits?: Partial<DatabaseLimits>;
  /** ms since the epoch, as this machine has it. Left out: it is asked. */
  readonly now?: () => number;
  /** ms, only ever forward. Left out: this process's. */
  readonly elapsed?: () => number;
}

/** The table in which Kysely's migrator stores their names. */
const STEPS = `${SCHEMA}.kysely_migration`;

/** The names of the steps that this store has taken; none where it is new. */
async function stepsOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass(${STEPS}) is not null as there`.execute(db);
  if (!rows[0]?.there) return [];
  const taken = await sql<{ name: string }>`select name from ${sql.table(STEPS)} order by name`.execute(db);
  return taken.rows.map(({ name }) => name);
}

/** Throws where another Roost has used the store, and this one does not know what lies in it. */
async function goOnFromBefore(db: Kysely<Tables>): Promise<void> {
  const taken = await stepsOf(db);
  if (taken[0] === BEFORE_02.first) {
    if (taken.length !== BEFORE_02.count || taken.at(-1) !== BEFORE_02.last)
      throw new StoreError(
        'The store was made by a Roost before 0.2 that was not the last of them. Use another --home: your browser gives the new one what it holds of your household.',
      );
    // In one statement: whoever is killed in between has all of the names, or the new one.
    await sql`
      with gone as (delete from ${sql.table(STEPS)} where name <> ${BEFORE_02.first})
      update ${sql.table(STEPS)} set name = '0001-schema' where name = ${BEFORE_02.first}`.execute(db);
    return;
  }
  const unknown = taken.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new StoreError(
      `The store was last used by a newer Roost (this one does not know its step ${unknown.join(', ')}). Update Roost, or use another --home.`,
    );
}

async function migrate(db: Kysely<Tables>): Promise<void> {
  await goOnFromBefore(db);
  const provider = { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) };
  const { error } = await new Migrator({ db, provider, migrationTableSchema: SCHEMA }).migrateToLatest();
  if (error) throw error instanceof Error ? error : new Error('The migration failed.', { cause: error });
}

const keptOpen =
  (openJournal: OpenJournal, opened: Set<Journal>): OpenJournal =>
  async (name) => {
    const journal = await openJournal(name);
    opened.add(journal);
    return journal;
  };

/**
 * Opens the store and brings it to this version. Throws `StoreError`, one line for people, where
 * that cannot be done.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { folder, databaseUrl, onFirst, onIdleError = () => undefined } = options;
  const { now: wall = Date.now, elapsed = () => performance.now() } = options;
  const limits = { ...DATABASE_LIMITS, ...options.limits };
  let opened = false;
  const { dialect, upkeep, watch } =
    databaseUrl === null
      ? { ...(await openEmbedded(folder, onFirst)), watch: null }
      : {
          ...openServer({
            ...{ databaseUrl, onIdleError },
            isPatient: () => opened,
            ...{ limits, elapsed },
          }),
          upkeep: null,
        };
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    if (error instanceof StoreError) throw error;
    const where = databaseUrl === null ? `The store in ${folder}` : 'The database that DATABASE_URL names';
    throw new StoreError(`${where} cannot be used: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  opened = true;
  const clock =
    watch &&
    (await openDatabaseClock({
      async read() {
        const { rows } = await sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(
          db,
        );
        return Number(rows[0]?.now);
      },
      ...{ wall, elapsed, limits, timers: realTimers },
      onStep: () => watch.disturb(),
    }));
  const opening = new Set<Journal>();
  const journals = databaseUrl === null ? journalsIn(folder) : null;
  return {
    kind: databaseUrl === null ? 'pglite' : 'postgres',
    db: db.withSchema(SCHEMA),
    openJournal: journals && keptOpen(journals, opening),
    database: watch ?? ALWAYS_THERE,
    now: clock ? () => clock.now() : wall,
    leave: () => watch?.leave(),
    tidy: () => upkeep?.run() ?? Promise.resolve(),
    async close() {
      clock?.close();
      await db.destroy();
      await Promise.all([...opening].map((journal) => journal.close()));
    },
  };
}
