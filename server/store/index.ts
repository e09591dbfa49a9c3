/**
 * The relay's store: Postgres, either built in (PGlite, in the relay's folder) or a server.
 *
 * `tables.ts` has the tables and says what each one holds. `engine.ts` runs PGlite, `postgres.ts`
 * connects to a server, and `steps` has the schema and its later migrations.
 *
 * Main types: `Db` (Kysely over `Tables`), `Store`.
 *
 * Invariants:
 * - Every process that serves one store agrees on the time: the database's clock.
 * - A write whose connection broke is looked up before it is repeated (`writeOnce`).
 * - What people or agents said, decided or set is also in the browsers. A relay that loses its
 *   store loses no soul.
 * - A store of a newer Roost is refused, unchanged.
 *
 * It does not know what rows mean to the rest of the relay.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { Kysely, type Migration, Migrator, sql } from 'kysely';
import { z } from 'zod';
import { singleFlight } from '../../src/shared/domain/platform/single-flight.ts';
import { realTimers, type Timers } from '../../src/shared/domain/platform/timers.ts';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { codeOf } from '../platform/errors.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './settings.ts';
import { createEmbedded, type Embedded, type Engine, type EngineSource, openEngine } from './engine.ts';
import { ALWAYS_THERE, type Database } from './database-watch.ts';
import { openServer } from './postgres.ts';
import { SCHEMA, type Tables } from './tables.ts';
import { schema } from './steps/0001-schema.ts';
import { versions } from './steps/0002-versions.ts';
import { projects } from './steps/0003-projects.ts';
import { attempts } from './steps/0004-attempts.ts';
import { routineMappings } from './steps/0005-routine-mappings.ts';
import { hooks } from './steps/0006-hooks.ts';
import { attemptCosts } from './steps/0007-attempt-costs.ts';
import { StoreError } from './store-error.ts';
export { ALWAYS_THERE, type Database, type DatabaseState } from './database-watch.ts';
export { enduring, repeated, writeOnce } from './engine.ts';
export { DatabaseAway, isAway, isUnstorable, StoreError, storeTrouble } from './store-error.ts';

// A write-ahead journal beside the embedded store. A record is on disk after one flush of one file,
// while a statement costs Postgres a multiple of that. The caller writes the records into the
// tables later, many at a time, and then restarts the journal. After a kill or a power failure
// the journal returns the records that may be missing in the tables.
//
// The file never changes its length, so a flush writes no folder entry and no length. It is
// overwritten from the beginning each time. Every round has its own tag, which identifies leftovers
// of an earlier round. A record is its length, the CRC-32 of the rest, the tag, and the payload. A
// torn record does not match its CRC, and was never acknowledged. Reading stops there.

/** Bytes of a journal. Records that do not fit go into the tables at once. */
const JOURNAL_BYTES = 2 ** 20;
const FOLDER = 'roost_journal';
const TAG_BYTES = 8;
const HEAD_BYTES = 8 + TAG_BYTES;

export interface Journal {
  /** The records found at opening, oldest first. Some may be in the tables already. */
  readonly found: readonly Buffer[];
  /**
   * Resolves with true when the record is on disk, with false if there is no room. One call at a
   * time, and not before the found records are in the tables. Rejects if the disk fails. The
   * journal has no room from then on, because the result of a failed flush is unknown.
   */
  write(record: Buffer): Promise<boolean>;
  /** All records so far are in the tables, on disk, so their room may be reused. */
  beginAnew(): void;
  close(): Promise<void>;
}

/** Opens the journal of this name, created if missing. Names are ids of logs. */
export type OpenJournal = (name: string) => Promise<Journal>;

async function flushFolder(path: string): Promise<void> {
  // Windows cannot flush folders.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * The bytes are written and not only reserved: a first write into reserved room would change the
 * file's metadata too.
 */
async function makeFile(path: string, bytes: number): Promise<void> {
  const made = await open(`${path}.making`, 'w', 0o600);
  try {
    await made.writeFile(Buffer.alloc(bytes));
    await made.sync();
  } finally {
    await made.close();
  }
  await rename(`${path}.making`, path);
  await flushFolder(dirname(path));
}

function recordsOf(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let tag: Buffer | null = null;
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length || end === at + HEAD_BYTES) break;
    const own = bytes.subarray(at + 8, at + HEAD_BYTES);
    if ((tag && !own.equals(tag)) || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break;
    tag = own;
    found.push(bytes.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return found;
}

async function openFile(path: string, bytes: number): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  await makeFile(path, bytes);
  return await open(path, 'r+');
}

/**
 * The journals of the store in `folder`. They are inside it, so that a copy of the store includes
 * them.
 */
export function journalsIn(
  folder: string,
  bytes: number = JOURNAL_BYTES,
  newTag: () => Buffer = () => randomBytes(TAG_BYTES),
): OpenJournal {
  return async (name) => {
    const journals = join(folder, FOLDER);
    await mkdir(journals, { recursive: true, mode: 0o700 });
    await flushFolder(folder);
    const file = await openFile(join(journals, encodeURIComponent(name)), bytes);
    const length = (await file.stat()).size;
    let found: Buffer[];
    try {
      found = recordsOf(await file.readFile());
    } catch (error) {
      await file.close();
      throw error;
    }
    let at = 0;
    let tag = newTag();
    let failed = false;
    return {
      found,
      async write(record) {
        const end = at + HEAD_BYTES + record.length;
        if (failed || end > length) return false;
        const framed = Buffer.allocUnsafe(end - at);
        framed.writeUInt32LE(record.length, 0);
        tag.copy(framed, 8);
        record.copy(framed, HEAD_BYTES);
        framed.writeUInt32LE(crc32(framed.subarray(8)), 4);
        try {
          await file.write(framed, 0, framed.length, at);
          await file.datasync();
        } catch (error) {
          failed = true;
          throw error;
        }
        at = end;
        return true;
      },
      beginAnew() {
        at = 0;
        tag = newTag();
      },
      close: () => file.close(),
    };
  };
}

// The database's time, continued by this process's monotonic clock. So several relays on one
// database share one clock, whatever happens to the wall clocks of their machines. Leases,
// schedules, budgets and cooldowns use it.
//
// It is synchronised at intervals, and as soon as the wall clock departs from the monotonic one.
// Then the wall clock was set, or the machine was suspended, which a monotonic clock may not see.

interface DatabaseClockDeps {
  /** ms since the epoch, by the database's clock. */
  readonly read: () => Promise<number>;
  /** ms since the epoch, by this machine's clock. */
  readonly wall: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly timers: Timers;
  readonly limits: Pick<DatabaseLimits, 'clockEveryMs' | 'clockDriftMs' | 'clockStepMs'>;
  /** The time has changed by a large step. */
  readonly onStep: () => void;
}

interface DatabaseClock {
  now(): number;
  close(): void;
}

/** Rejects if the database does not return its time. */
export async function openDatabaseClock(deps: DatabaseClockDeps): Promise<DatabaseClock> {
  const { read, wall, elapsed, timers, limits, onStep } = deps;
  let closed = false;
  let cancel: () => void = () => undefined;

  async function anchorNow() {
    const asked = elapsed();
    const time = await read();
    // The answer travelled for about half of the time.
    return { time, at: (asked + elapsed()) / 2, wall: wall() - elapsed() };
  }
  let anchor = await anchorNow();
  const timeNow = () => Math.round(anchor.time + elapsed() - anchor.at);

  const set = singleFlight(async () => {
    const next = await anchorNow();
    const before = anchor.time + next.at - anchor.at;
    anchor = next;
    if (Math.abs(next.time - before) > limits.clockStepMs) onStep();
  });
  /** During an outage the clock continues unchanged. */
  const setSoon = () => void set().catch(() => undefined);
  function setLater(): void {
    cancel = timers.after(limits.clockEveryMs, () => {
      setSoon();
      if (!closed) setLater();
    });
  }
  setLater();

  return {
    now() {
      const drift = wall() - elapsed() - anchor.wall;
      if (!closed && Math.abs(drift) > limits.clockDriftMs) {
        // Once per departure of the wall clock.
        anchor = { ...anchor, wall: anchor.wall + drift };
        setSoon();
      }
      return timeNow();
    },
    close() {
      closed = true;
      cancel();
    },
  };
}

/**
 * Every step of the store, in order. A step that was released is never edited: a change is a new
 * step.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-schema': schema,
  '0002-versions': versions,
  '0003-projects': projects,
  '0004-attempts': attempts,
  '0005-routine-mappings': routineMappings,
  '0006-hooks': hooks,
  '0007-attempt-costs': attemptCosts,
};

/**
 * Before 0.2 there were 38 steps, which ended where `0001-schema` does. A store that took all of
 * them continues from there. The tables of a store that took fewer are unknown.
 */
const BEFORE_02 = { first: '0001-first', last: '0038-server-questions', count: 38 } as const;

/**
 * PGlite on disk. Creating a store takes seconds and several hundred megabytes, once. It runs in a
 * worker thread, which returns the memory when it ends, and in a folder beside the final one. So a
 * kill in the middle leaves nothing that looks like a store.
 */

/**
 * ms between two attempts to open an engine. Each attempt blocks the relay for a quarter of a
 * second.
 */
const REOPEN_PAUSE_MS = 500;

/** Log segments of 1 MB, not 16. */
const INITDB = ['--wal-segsize=1'];
/** Two template databases, which are two thirds of an empty store's files. */
const TRIM = [
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
  'checkpoint',
];

/**
 * CommonJS, as a worker made from text requires. The package's address is resolved out here, where
 * it is known.
 */
const MAKER = `
const { workerData } = require('node:worker_threads');
import(workerData.pglite).then(async ({ PGlite }) => {
  const made = await PGlite.create({ dataDir: workerData.folder, initDbStartParams: workerData.initdb });
  for (const statement of workerData.trim) await made.exec(statement);
  await made.close();
});
`;

/** Flushes a file, or the names in a folder. */
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
 * A dead engine is abandoned, and another one opened on its folder, where Postgres recovers what
 * was committed.
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

/** The embedded store in `folder`. Throws `StoreError` if it cannot be created or opened. */
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

/** Texts in columns whose names end in `_json`. tables.ts explains the format. */

/** The text in such a column. Throws for any other value. */
export const parseText = (json: string): string => z.string().parse(JSON.parse(json));

export type Db = Kysely<Tables>;

export interface Store {
  readonly kind: 'pglite' | 'postgres';
  /** Every table is addressed in its schema. */
  readonly db: Db;
  /**
   * For a part that writes often and is the only writer. Null for a Postgres server, which other
   * processes write to as well.
   */
  readonly openJournal: OpenJournal | null;
  /** Whether the database can be reached. The embedded one always can. */
  readonly database: Database;
  /** ms since the epoch, the same for all processes of this store: see `openDatabaseClock`. */
  readonly now: () => number;
  /** The relay ends: it waits for an outage no longer than `leaveMs`. */
  leave(): void;
  /**
   * Frees the room of deleted rows now. The store does so by itself in quiet moments, and a
   * Postgres server on its own.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

interface StoreOptions {
  /** Folder of the embedded store. Created if missing. */
  readonly folder: string;
  /** A real Postgres instead. Null for the embedded one. */
  readonly databaseUrl: string | null;
  /** Called before the embedded store is created, which takes some seconds, once. */
  readonly onFirst?: () => void;
  /** An idle connection to a real Postgres broke. The next query opens another. */
  readonly onIdleError?: (error: Error) => void;
  readonly limits?: Partial<DatabaseLimits>;
  /** ms since the epoch, by this machine's clock. Left out: the system's. */
  readonly now?: () => number;
  /** Monotonic ms. Left out: this process's. */
  readonly elapsed?: () => number;
}

/** The table in which Kysely's migrator stores the names of steps. */
const STEPS = `${SCHEMA}.kysely_migration`;

/** The names of the steps that this store has taken. None where it is new. */
async function stepsOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass(${STEPS}) is not null as there`.execute(db);
  if (!rows[0]?.there) return [];
  const taken = await sql<{ name: string }>`select name from ${sql.table(STEPS)} order by name`.execute(db);
  return taken.rows.map(({ name }) => name);
}

/** Throws if another Roost has used the store in a form that this one does not know. */
async function goOnFromBefore(db: Kysely<Tables>): Promise<void> {
  const taken = await stepsOf(db);
  if (taken[0] === BEFORE_02.first) {
    if (taken.length !== BEFORE_02.count || taken.at(-1) !== BEFORE_02.last)
      throw new StoreError(
        'The store was made by a Roost before 0.2 that was not the last of them. Use another --home: your browser gives the new one what it holds of your household.',
      );
    // One statement, so that a kill leaves either all of the old names or the new one.
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
 * Opens the store and migrates it to this version. Throws `StoreError`, one line for people, where
 * that is impossible.
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
