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
import { first } from './steps/0001-first.ts';
import { reach } from './steps/0002-reach.ts';
import { sync } from './steps/0003-sync.ts';
import { homes } from './steps/0004-homes.ts';
import { grants } from './steps/0005-grants.ts';
import { pageKeys } from './steps/0006-page-keys.ts';
import { quotas } from './steps/0007-quotas.ts';
import { records } from './steps/0008-records.ts';
import { reserves } from './steps/0009-reserves.ts';
import { configVersion } from './steps/0010-config-version.ts';
import { mcpSessions } from './steps/0011-mcp-sessions.ts';
import { schedules } from './steps/0012-schedules.ts';
import { night } from './steps/0013-night.ts';
import { moving } from './steps/0014-moving.ts';
import { hands } from './steps/0015-hands.ts';
import { models } from './steps/0016-models.ts';
import { attached } from './steps/0017-attached.ts';
import { scheduleWords } from './steps/0018-schedule-words.ts';
import { scriptGroups } from './steps/0019-script-groups.ts';
import { places } from './steps/0020-places.ts';
import { notifications } from './steps/0021-notifications.ts';
import { programs } from './steps/0022-programs.ts';
import { attachedRecords } from './steps/0023-attached-records.ts';
import { deviceCodes } from './steps/0024-device-codes.ts';
import { notificationOrder } from './steps/0025-notification-order.ts';
import { pushContact } from './steps/0026-push-contact.ts';
import { programSessions } from './steps/0027-program-sessions.ts';
import { wakeCalls } from './steps/0028-wake-calls.ts';
import { keptAnswers } from './steps/0029-kept-answers.ts';
import { signInFamilies } from './steps/0030-sign-in-families.ts';
import { callContents } from './steps/0031-call-contents.ts';
import { askedRecords } from './steps/0032-asked-records.ts';
import { scopes } from './steps/0033-scopes.ts';
import { messageTypes } from './steps/0034-message-types.ts';
import { eventWakes } from './steps/0035-event-wakes.ts';
import { scheduleTimes } from './steps/0036-schedule-times.ts';
import { scriptTexts } from './steps/0037-script-texts.ts';
import { serverQuestions } from './steps/0038-server-questions.ts';
import { StoreError } from './store-error.ts';
import type { Tables } from './tables.ts';

// Every step the store has taken. A step that was released is never edited: a change is a new step.

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-reach': reach,
  '0003-sync': sync,
  '0004-homes': homes,
  '0005-grants': grants,
  '0006-page-keys': pageKeys,
  '0007-quotas': quotas,
  '0008-records': records,
  '0009-reserves': reserves,
  '0010-config-version': configVersion,
  '0011-mcp-sessions': mcpSessions,
  '0012-schedules': schedules,
  '0013-night': night,
  '0014-moving': moving,
  '0015-hands': hands,
  '0016-models': models,
  '0017-attached': attached,
  '0018-schedule-words': scheduleWords,
  '0019-script-groups': scriptGroups,
  '0020-places': places,
  '0021-notifications': notifications,
  '0022-programs': programs,
  '0023-attached-records': attachedRecords,
  '0024-device-codes': deviceCodes,
  '0025-notification-order': notificationOrder,
  '0026-push-contact': pushContact,
  '0027-program-sessions': programSessions,
  '0028-wake-calls': wakeCalls,
  '0029-kept-answers': keptAnswers,
  '0030-sign-in-families': signInFamilies,
  '0031-call-contents': callContents,
  '0032-asked-records': askedRecords,
  '0033-scopes': scopes,
  '0034-message-types': messageTypes,
  '0035-event-wakes': eventWakes,
  '0036-schedule-times': scheduleTimes,
  '0037-script-texts': scriptTexts,
  '0038-server-questions': serverQuestions,
};

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

async function refuseNewer(db: Kysely<Tables>): Promise<void> {
  const table = `${SCHEMA}.kysely_migration`;
  const { rows } = await sql<{ there: boolean }>`select to_regclass(${table}) is not null as there`.execute(db);
  if (!rows[0]?.there) return;
  const done = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  const unknown = done.rows.map((row) => row.name).filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new StoreError(
      `The store was last used by a newer Roost (this one does not know its step ${unknown.join(', ')}). Update Roost, or use another --home.`,
    );
}

async function migrate(db: Kysely<Tables>): Promise<void> {
  await refuseNewer(db);
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
