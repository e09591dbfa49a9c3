/** Databases for tests, on the real Postgres server of the run. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A migrated store with nothing in it. Nobody connects to it: it could not be copied meanwhile. */
export const EMPTY_DATABASE = 'roost_empty';

function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error('This needs the Postgres server that a run of the tests starts.');
  return url;
}

/** The address of a database of the run's server. */
export function urlOfDatabase(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}

async function run(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A new database with an empty, migrated store in it: ten milliseconds. `fresh`: with nothing in it
 * at all.
 */
export async function createDatabase({ fresh = false } = {}): Promise<TestDatabase> {
  const name = `roost_${randomBytes(8).toString('hex')}`;
  await run(`create database ${name}${fresh ? '' : ` template ${EMPTY_DATABASE} strategy file_copy`}`);
  return { url: urlOfDatabase(name), drop: () => run(`drop database ${name} with (force)`) };
}
