/**
 * The relay's store: Postgres, with the same SQL and the same migrations wherever it runs. Without a
 * database URL it is PGlite, on disk inside the home.
 */
import { Kysely, Migrator, sql } from 'kysely';
import { openEmbedded } from './embedded.ts';
import { journalsIn, type Journal, type OpenJournal } from './journal.ts';
import { MIGRATIONS } from './migrations.ts';
import { SCHEMA } from './schema.ts';
import { openServer } from './server.ts';
import { StoreError } from './store-error.ts';
import type { Tables } from './tables.ts';

export { parseText } from './json-text.ts';
export type { Journal, OpenJournal } from './journal.ts';
export { StoreError, storeTrouble } from './store-error.ts';
export type Db = Kysely<Tables>;

export interface Store {
  readonly kind: 'pglite' | 'postgres';
  /** Every table is addressed in its schema. */
  readonly db: Db;
  /** For who writes often and alone; null for a Postgres server, which other processes write to as well. */
  readonly openJournal: OpenJournal | null;
  /** Gives back the room of what was dropped, now; by itself this happens in quiet moments. A Postgres server does it alone. */
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

/** Opens the store and brings it to this version. Throws `StoreError`, one line for people, where that cannot be done. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { folder, databaseUrl, onFirst, onIdleError = () => undefined } = options;
  const { dialect, upkeep } =
    databaseUrl === null
      ? await openEmbedded(folder, onFirst)
      : { dialect: openServer(databaseUrl, onIdleError), upkeep: null };
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    if (error instanceof StoreError) throw error;
    const where = databaseUrl === null ? `The store in ${folder}` : 'The database that DATABASE_URL names';
    throw new StoreError(`${where} cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const opened = new Set<Journal>();
  const journals = databaseUrl === null ? journalsIn(folder) : null;
  return {
    kind: databaseUrl === null ? 'pglite' : 'postgres',
    db: db.withSchema(SCHEMA),
    openJournal: journals && keptOpen(journals, opened),
    tidy: () => upkeep?.run() ?? Promise.resolve(),
    async close() {
      await db.destroy();
      await Promise.all([...opened].map((journal) => journal.close()));
    },
  };
}
