/** The SQL of homes, and of which home a sign-in belongs to. `relay` names the whole relay. */
import { sql } from 'kysely';
import type { Db } from '../store/index.ts';

export interface HomeRow {
  readonly home: string;
  /** ms since the epoch; null: nobody lives there yet. */
  readonly begun_at: number | null;
  readonly household: string | null;
}

/** Makes whoever decides about homes wait for each other. */
export async function lockHomes(db: Db, relay: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`roost homes ${relay}`}, 0))`.execute(db);
}

export const readHomes = (db: Db, relay: string): Promise<readonly HomeRow[]> =>
  db
    .selectFrom('homes')
    .select(['home', 'begun_at', 'household'])
    .where('relay', '=', relay)
    .orderBy('made_at')
    .orderBy('home')
    .execute();

export async function insertHome(db: Db, relay: string, home: string, now: number): Promise<void> {
  await db.insertInto('homes').values({ relay, home, made_at: now, begun_at: null, household: null }).execute();
}

export async function updateHome(
  db: Db,
  relay: string,
  home: string,
  change: { readonly begun_at?: number; readonly household?: string },
): Promise<void> {
  await db.updateTable('homes').set(change).where('relay', '=', relay).where('home', '=', home).execute();
}

/** The home of this sign-in; null where it has none yet, or has ended. */
export async function homeOfBrowser(db: Db, relay: string, browser: string): Promise<string | null> {
  const row = await db
    .selectFrom('browsers')
    .select('home')
    .where('relay', '=', relay)
    .where('token_hash', '=', browser)
    .executeTakeFirst();
  return row?.home ?? null;
}

/** Was it given beside another sign-in? */
export async function isGivenBeside(db: Db, relay: string, browser: string): Promise<boolean> {
  const row = await db
    .selectFrom('browsers')
    .select('family')
    .where('relay', '=', relay)
    .where('token_hash', '=', browser)
    .executeTakeFirst();
  return (row?.family ?? null) !== null;
}

export async function bindBrowser(db: Db, relay: string, browser: string, home: string): Promise<void> {
  await db.updateTable('browsers').set({ home }).where('relay', '=', relay).where('token_hash', '=', browser).execute();
}

/** Homes that some sign-in belongs to. */
export async function boundHomes(db: Db, relay: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('browsers')
    .select('home')
    .distinct()
    .where('relay', '=', relay)
    .where('home', 'is not', null)
    .execute();
  return new Set(rows.flatMap(({ home }) => (home === null ? [] : [home])));
}

/** Bytes of the sealed entries of this sign-in's household; null where it has none here. */
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

/** In which home the credential with this hash was made; null: in none. */
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
