/**
 * Kysely on PGlite: Postgres' own SQL over the one connection that PGlite is. Whoever acquires it has it
 * alone until it is released, so that a transaction is not mixed up with what others ask meanwhile.
 */
import type { PGlite } from '@electric-sql/pglite';
import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
} from 'kysely';

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function createConnection(pglite: PGlite): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery) {
      const { rows, affectedRows, command } = await pglite.query<R>(query.sql, [...query.parameters]);
      return WRITES.has(command ?? '') ? { rows, numAffectedRows: BigInt(affectedRows ?? 0) } : { rows };
    },
    streamQuery() {
      throw new Error('PGlite answers whole; it does not stream rows');
    },
  };
}

function createDriver(pglite: PGlite): Driver {
  const connection = createConnection(pglite);
  const run = (statement: string) => connection.executeQuery(CompiledQuery.raw(statement));
  let last: Promise<void> = Promise.resolve();
  const releases: (() => void)[] = [];
  return {
    init: () => pglite.waitReady,
    async acquireConnection() {
      const before = last;
      last = new Promise((resolve) => releases.push(resolve));
      await before;
      return connection;
    },
    // Turns end in the order in which they were taken.
    releaseConnection: () => Promise.resolve(releases.shift()?.()),
    async beginTransaction() {
      await run('begin');
    },
    async commitTransaction() {
      await run('commit');
    },
    async rollbackTransaction() {
      await run('rollback');
    },
    destroy: () => pglite.close(),
  };
}

export function createPGliteDialect(pglite: PGlite): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => createDriver(pglite),
  };
}
