/**
 * The relay's store: SQLite in a file of the relay's folder, or a Postgres server.
 *
 * `tables.ts` has the tables and says what each one holds. `embedded.ts` runs SQLite, `postgres.ts`
 * connects to a server, `dialect.ts` names what differs between them, and `steps` has the schema
 * and its later migrations.
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
import { Kysely, type Migration, Migrator, sql } from 'kysely';
import { z } from 'zod';
import { singleFlight } from '../../src/shared/domain/platform/single-flight.ts';
import { realTimers, type Timers } from '../../src/shared/domain/platform/timers.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './settings.ts';
import { isEmbedded, STORE_NOW } from './dialect.ts';
import { openEmbedded } from './embedded.ts';
import { ALWAYS_THERE, type Database } from './database-watch.ts';
import { SCHEMA, type Tables } from './tables.ts';
import { schema } from './steps/0001-tables.ts';
import { memories } from './steps/0002-memories.ts';
import { dreams } from './steps/0003-dreams.ts';
import { forgets } from './steps/0004-forgets.ts';
import { exams } from './steps/0005-exams.ts';
import { dreamBatches } from './steps/0006-dream-batches.ts';
import { explained, StoreError } from './store-error.ts';
export { ALWAYS_THERE, type Database, type DatabaseState } from './database-watch.ts';
export { checkEmbedded, copyEmbedded, openEmbedded, STORE_FILE } from './embedded.ts';
export { checkServer } from './postgres.ts';
export { enduring, repeated, writeOnce } from './outage.ts';
export { DatabaseAway, isAway, isUnstorable, StoreError, storeTrouble } from './store-error.ts';
export { runTogether } from './together.ts';

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
 * step, for Postgres and SQLite alike.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tables': schema,
  '0002-memories': memories,
  '0003-dreams': dreams,
  '0004-forgets': forgets,
  '0005-exams': exams,
  '0006-dream-batches': dreamBatches,
};

/** First steps of a Roost that was never released. Its tables differ, and stay as they are. */
const UNRELEASED: readonly string[] = ['0001-first', '0001-schema'];

/** Texts in columns whose names end in `_json`. tables.ts explains the format. */

/** The text in such a column. Throws for any other value. */
export const parseText = (json: string): string => z.string().parse(JSON.parse(json));

export type Db = Kysely<Tables>;

/** What a part of one home needs of the store. Homes may share it, so each row names its home. */
export interface HomeStore {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
}

export interface Store {
  readonly kind: 'sqlite' | 'postgres';
  /** Every table is addressed in its schema. */
  readonly db: Db;
  /** Whether the database can be reached. The embedded one always can. */
  readonly database: Database;
  /** Writes a copy of the store as it is now to a new file. Null: it is in a Postgres server. */
  readonly copyTo: ((file: string) => Promise<void>) | null;
  /** ms since the epoch, the same for all processes of this store: see `openDatabaseClock`. */
  readonly now: () => number;
  /** The relay ends: it waits for an outage no longer than `leaveMs`. */
  leave(): void;
  close(): Promise<void>;
}

interface StoreOptions {
  /** Folder of the embedded store. Created if missing. */
  readonly folder: string;
  /** A real Postgres instead. Null for the embedded one. */
  readonly databaseUrl: string | null;
  /** An earlier kind of embedded store was put aside, unchanged. Called with its new path. */
  readonly onSetAside?: (path: string) => void;
  /**
   * The embedded store has ended by itself, and every statement fails. What was acknowledged is on
   * disk. Left out: the error ends the process.
   */
  readonly onLost?: (error: Error) => void;
  /** An idle connection to a real Postgres broke. The next query opens another. */
  readonly onIdleError?: (error: Error) => void;
  readonly limits?: Partial<DatabaseLimits>;
  /** ms since the epoch, by this machine's clock. Left out: the system's. */
  readonly now?: () => number;
  /** Monotonic ms. Left out: this process's. */
  readonly elapsed?: () => number;
}

function endsTheProcess(error: Error): void {
  process.nextTick(() => {
    throw error;
  });
}

/** The names of the steps that this store has taken. None where it is new. */
async function stepsOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name, schema: space }) => name === STEPS && (isEmbedded(db) || space === SCHEMA))) return [];
  const taken = await sql<{ name: string }>`
    select name from ${sql.table(`${SCHEMA}.${STEPS}`)} order by name`.execute(db);
  return taken.rows.map(({ name }) => name);
}

/** The table in which Kysely's migrator stores the names of steps. */
const STEPS = 'kysely_migration';

/**
 * Takes the steps that this store has not taken. Throws if another Roost has used the store in a
 * form that this one does not know.
 */
export async function migrate(
  db: Kysely<Tables>,
  migrations: Readonly<Record<string, Migration>> = MIGRATIONS,
): Promise<void> {
  const steps = await stepsOf(db);
  if (steps.some((name) => UNRELEASED.includes(name)))
    throw new StoreError(
      'The store was made by a Roost before 0.3. Use another database, or another --home: your browser gives the new one what it holds of your household.',
    );
  const unknown = steps.filter((name) => !(name in migrations));
  if (unknown.length > 0)
    throw new StoreError(
      `The store was last used by a newer Roost (this one does not know its step ${unknown.join(', ')}). Update Roost, or use another --home.`,
    );
  if (steps.length === Object.keys(migrations).length) return;
  const provider = { getMigrations: () => Promise.resolve({ ...migrations }) };
  const migrator = new Migrator({ db, provider, ...(isEmbedded(db) ? {} : { migrationTableSchema: SCHEMA }) });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error instanceof Error ? error : new Error('The migration failed.', { cause: error });
}

/**
 * Opens the store and migrates it to this version. Throws `StoreError`, one line for people, where
 * that is impossible.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { folder, databaseUrl, onSetAside, onIdleError = () => undefined, onLost = endsTheProcess } = options;
  const { now: wall = Date.now, elapsed = () => performance.now() } = options;
  const limits = { ...DATABASE_LIMITS, ...options.limits };
  let opened = false;
  const { dialect, watch, copyTo } =
    databaseUrl === null
      ? { ...(await openEmbedded(folder, { onSetAside, onLost })), watch: null }
      : {
          ...(await import('./postgres.ts')).openServer({
            databaseUrl,
            onIdleError,
            isPatient: () => opened,
            limits,
            elapsed,
          }),
          copyTo: null,
        };
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    if (error instanceof StoreError) throw error;
    const where = databaseUrl === null ? `The store in ${folder}` : 'The database that DATABASE_URL names';
    throw new StoreError(`${where} cannot be used: ${explained(error)}`, { cause: error });
  }
  opened = true;
  const clock =
    watch &&
    (await openDatabaseClock({
      async read() {
        const { now } = await db.selectNoFrom(STORE_NOW.as('now')).executeTakeFirstOrThrow();
        return Number(now);
      },
      wall,
      elapsed,
      limits,
      timers: realTimers,
      onStep: () => watch.disturb(),
    }));
  return {
    kind: databaseUrl === null ? 'sqlite' : 'postgres',
    // The file of SQLite has no schemas. Naming one there would only cost time.
    db: isEmbedded(db) ? db : db.withSchema(SCHEMA),
    database: watch ?? ALWAYS_THERE,
    copyTo,
    now: clock ? () => clock.now() : wall,
    leave: () => watch?.leave(),
    async close() {
      clock?.close();
      await db.destroy();
    },
  };
}
