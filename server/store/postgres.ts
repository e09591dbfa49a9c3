/** A real Postgres server as the store, named by a URL. Short outages are waited for. */
import {
  PostgresDialect,
  type Dialect,
  type PostgresCursor,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { realTimers, sleep } from '../../src/shared/domain/platform/timers.ts';
import { createTurns } from '../platform/household-turns.ts';
import { PostgresCompiler } from './compilers.ts';
import { createDatabaseWatch, type DatabaseWatch } from './database-watch.ts';
import type { DatabaseLimits } from './settings.ts';
import { DatabaseAway, isAway, isBroken } from './store-error.ts';

/** `bigint` as a number: the stored ids and times stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : format === 'binary'
        ? pg.types.getTypeParser(oid, 'binary')
        : pg.types.getTypeParser(oid, 'text'),
};

/** Statements that change nothing when they are repeated, as the first ones of a connection. */
const HARMLESS = /^\s*(select|begin|start transaction)\b/i;
const BEGINS = /^\s*(begin|start transaction)\b/i;
const COMMITS = /^\s*commit\b/i;

/**
 * A connection that repeats its first statement over another one if it turns out to be broken. A
 * server restart ends all of a pool's connections, and the pool notices each only when its socket
 * is read. A later statement fails with `DatabaseAway` then, and so does every other one in its
 * transaction.
 */
async function openConnection(
  connect: () => Promise<pg.PoolClient>,
  watch: DatabaseWatch,
  tries: number,
): Promise<PostgresPoolClient> {
  let client: pg.PoolClient | null = await connect();
  let isFirst = true;
  let inTransaction = false;
  let broken: DatabaseAway | null = null;
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('The store has no cursors');
    return say(text, values);
  }
  async function say(text: string, values: readonly unknown[]): Promise<unknown> {
    if (broken) throw broken;
    const repeats = isFirst && HARMLESS.test(text);
    if (isFirst) inTransaction = BEGINS.test(text);
    isFirst = false;
    for (let triesLeft = tries; ; triesLeft--) {
      const used: pg.PoolClient = (client ??= await connect());
      try {
        return await watch.answered(used.query(text, [...values]));
      } catch (error) {
        if (!isBroken(error) && !isAway(error)) throw error;
        // Returned as broken, so that it is not used again.
        client = null;
        used.release(true);
        if (repeats && triesLeft > 0) continue;
        // Everything that a transaction did before its commit is undone.
        throw (broken = new DatabaseAway(inTransaction && !COMMITS.test(text) ? 'undone' : 'in-doubt', {
          cause: error,
        }));
      }
    }
  }
  return { query, release: () => client?.release() };
}

/**
 * The version of the server, asked over a connection of its own. Rejects where a step takes longer
 * than `ms`.
 */
export async function checkServer(connectionString: string, ms: number): Promise<string> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: ms, query_timeout: ms });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? '';
  } finally {
    // A server that does not answer is not waited for.
    client.end().catch(() => undefined);
  }
}

export interface ServerDeps {
  readonly databaseUrl: string;
  /** An idle connection broke. */
  readonly onIdleError: (error: Error) => void;
  /**
   * Whether an outage is waited for. This happens before anything is sent, so that nothing is ever
   * sent twice.
   */
  readonly isPatient: () => boolean;
  readonly limits: DatabaseLimits;
  /** Monotonic ms. */
  readonly elapsed: () => number;
}

export function openServer({ databaseUrl, onIdleError, isPatient, limits, elapsed }: ServerDeps): {
  readonly dialect: Dialect;
  readonly watch: DatabaseWatch;
} {
  const watch = createDatabaseWatch({
    probe: async () => void (await checkServer(databaseUrl, limits.probeMs)),
    limits,
    timers: realTimers,
    elapsed,
    random: Math.random,
  });
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: limits.poolSize,
    connectionTimeoutMillis: limits.connectMs,
    types,
  });
  // An idle connection broke, and the pool opens another. Without a handler the event would end the
  // process.
  pool.on('error', (error) => {
    onIdleError(error);
    void watch.doubt();
  });
  // A connection broke between two statements of a transaction, and the next one reports it.
  // Without a handler the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closed = false;
  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      await watch.patiently();
      try {
        return await pool.connect();
      } catch (error) {
        // While all connections are in use, the caller goes on waiting for one.
        if (closed || !isPatient() || !(isBroken(error) || isPoolBusy(error))) throw error;
        await watch.doubt();
        await sleep(realTimers.after, limits.backoffFirst);
      }
    }
  }
  const end = () => {
    closed = true;
    watch.close();
    return pool.end();
  };
  const turn = createTurns(limits.poolSize);
  async function open(): Promise<PostgresPoolClient> {
    const endTurn = await turn();
    try {
      const { query, release } = await openConnection(connect, watch, limits.poolSize);
      return {
        query,
        release() {
          release();
          endTurn();
        },
      };
    } catch (error) {
      endTurn();
      throw error;
    }
  }
  const pooled = new PostgresDialect({ pool: { connect: open, end } });
  const dialect: Dialect = {
    createAdapter: () => pooled.createAdapter(),
    createDriver: () => pooled.createDriver(),
    createIntrospector: (db) => pooled.createIntrospector(db),
    createQueryCompiler: () => new PostgresCompiler(),
  };
  return { dialect, watch };
}

/** `pg-pool` gave up waiting for a free connection. */
const isPoolBusy = (error: unknown) =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';
