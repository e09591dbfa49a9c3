/**
 * A real Postgres server for one run of the tests, with a database in it that all others are copies
 * of.
 */
import pg from 'pg';
import { openStore } from '../../server/store/index.ts';
import { startPostgres } from './postgres-process.ts';
import { EMPTY_DATABASE, urlOfDatabase } from './postgres.ts';

async function makeEmptyDatabase(): Promise<void> {
  const client = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] });
  await client.connect();
  try {
    await client.query(`create database ${EMPTY_DATABASE}`);
  } finally {
    await client.end();
  }
  await (await openStore({ folder: '', databaseUrl: urlOfDatabase(EMPTY_DATABASE) })).close();
}

/**
 * Before the first process of the tests begins: each takes the server's address, of its database
 * `postgres` as its superuser, from `TEST_POSTGRES_URL`.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Of another project of the same run.
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return;
  const { url, stop } = await startPostgres();
  process.env['TEST_POSTGRES_URL'] = url;
  await makeEmptyDatabase();
  return async () => {
    delete process.env['TEST_POSTGRES_URL'];
    await stop();
  };
}
