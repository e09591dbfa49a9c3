/** A real Postgres server as the store, named by a URL: one that is away for a while is waited for. */
import {
  PostgresDialect,
  type Dialect,
  type PostgresCursor,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { realTimers, sleep } from '../../src/domain/platform/timers.ts';
import { isAway } from './store-error.ts';

const POOL_SIZE = 8;
/** ms to wait for a connection before the store counts as unreachable. */
const CONNECT_TIMEOUT_MS = 10_000;
/** ms that a statement waits for a server that was there and is away, and between two tries: one that is started anew is back within seconds. */
const AWAY_MS = 30_000;
const AWAY_AGAIN_MS = 250;

/** `bigint` as a number: the ids and times kept here stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : format === 'binary'
        ? pg.types.getTypeParser(oid, 'binary')
        : pg.types.getTypeParser(oid, 'text'),
};

/** What changes nothing where it is said twice, if it is the first that is said over a connection. */
const HARMLESS = /^\s*(select|begin|start transaction)\b/i;

/**
 * A connection whose first statement is said once more over another where it turns out to have broken unseen. A server that
 * is started anew ends all of a pool's connections, and the pool hears of each only when its line is read.
 */
async function connectSafely(connect: () => Promise<pg.PoolClient>): Promise<PostgresPoolClient> {
  let client: pg.PoolClient | null = await connect();
  let isFirst = true;
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('The store has no cursors');
    return say(text, values);
  }
  async function say(text: string, values: readonly unknown[]): Promise<unknown> {
    const repeats = isFirst && HARMLESS.test(text);
    isFirst = false;
    for (let left = POOL_SIZE; ; left--)
      try {
        return await (client ??= await connect()).query(text, [...values]);
      } catch (error) {
        if (!repeats || left === 0 || client === null || !isAway(error)) throw error;
        // Given back as broken, so that nobody gets it again.
        client.release(true);
        client = null;
      }
  }
  return { query, release: () => client?.release() };
}

/** `isPatient`: a server that is away is waited for; before anything was sent, so that nothing is ever said twice. */
export function openServer(
  databaseUrl: string,
  onIdleError: (error: Error) => void,
  isPatient: () => boolean,
): { readonly dialect: Dialect; readonly upkeep: null } {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types,
  });
  // A connection that breaks while nobody uses it: the pool makes another; unheard, it would end the process.
  pool.on('error', onIdleError);
  // One that breaks between two statements of a transaction: the next of them says so; unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closed = false;
  async function connect(): Promise<pg.PoolClient> {
    for (const until = performance.now() + AWAY_MS; ;)
      try {
        return await pool.connect();
      } catch (error) {
        if (closed || !isPatient() || !isAway(error) || performance.now() > until) throw error;
        await sleep(realTimers.after, AWAY_AGAIN_MS);
      }
  }
  const end = () => {
    closed = true;
    return pool.end();
  };
  return { dialect: new PostgresDialect({ pool: { connect: () => connectSafely(connect), end } }), upkeep: null };
}
