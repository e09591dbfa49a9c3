/** A Postgres server, named by a URL. */
import pg from 'pg';
import { PostgresDialect, type Dialect } from 'kysely';

const POOL_SIZE = 8;
/** ms to wait for a connection before the store counts as unreachable. */
const CONNECT_TIMEOUT_MS = 10_000;

/** `bigint` as a number: the ids and times kept here stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : format === 'binary'
        ? pg.types.getTypeParser(oid, 'binary')
        : pg.types.getTypeParser(oid, 'text'),
};

export function openServer(databaseUrl: string, onIdleError: (error: Error) => void): Dialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types,
  });
  // A connection that breaks while nobody uses it: the pool makes another; unheard, it would end the process.
  pool.on('error', onIdleError);
  return new PostgresDialect({ pool });
}
