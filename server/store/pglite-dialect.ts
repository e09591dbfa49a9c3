/**
 * Kysely on the embedded engine: Postgres' own SQL over the one connection that PGlite is. A
 * transaction has it alone from `begin` to its end, a single statement for as long as it runs.
 * Whoever wrote, or read what another wrote, waits for the disk outside of its turn: the next one
 * runs meanwhile, and one flush serves all who wait.
 */
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
} from 'kysely';
import { createDeferred } from '../../src/shared/domain/platform/deferred.ts';
import { createPace, type Pace } from '../platform/pace.ts';
import type { Engine, Rows } from './engine.ts';
import { createUpkeep, type Upkeep, type UpkeepDeps } from './upkeep.ts';

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** An engine for as long as it lives, and another after it. */
export interface EngineSource {
  /** The engine; opened where there is none. */
  get(): Promise<Engine>;
  close(): Promise<void>;
}

/**
 * One after another, in the order of asking. `take` answers with the function that ends the turn.
 */
function createTurns(): { take(): Promise<() => void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const before = last;
      const turn = createDeferred();
      last = turn.promise;
      await before;
      return turn.resolve;
    },
  };
}

/** What a connection knows while it has a transaction. */
interface Transaction {
  readonly engine: Engine;
  readonly endTurn: () => void;
}

interface EmbeddedConnection extends DatabaseConnection {
  begin(): Promise<void>;
  end(statement: 'commit' | 'rollback'): Promise<void>;
}

interface Shared {
  readonly source: EngineSource;
  readonly turns: ReturnType<typeof createTurns>;
  readonly upkeep: Upkeep;
  /**
   * The engine runs in the relay’s own thread: between two statements every other call has its
   * turn.
   */
  readonly pace: Pace;
}

function createConnection({ source, turns, upkeep, pace }: Shared): EmbeddedConnection {
  let transaction: Transaction | null = null;

  async function run(engine: Engine, sql: string, parameters: readonly unknown[]): Promise<Rows> {
    await pace();
    return await engine.run(sql, parameters);
  }

  async function runAlone(sql: string, parameters: readonly unknown[]): Promise<Rows> {
    const endTurn = await turns.take();
    let engine: Engine;
    let rows: Rows;
    try {
      engine = await source.get();
      rows = await run(engine, sql, parameters);
    } finally {
      endTurn();
    }
    upkeep.noticed(WRITES.has(rows.command ?? ''), engine.logBytes());
    await engine.flushed();
    return rows;
  }

  return {
    async executeQuery<R>(query: CompiledQuery) {
      const { rows, affectedRows, command } = await (transaction
        ? run(transaction.engine, query.sql, query.parameters)
        : runAlone(query.sql, query.parameters));
      // Kysely's types say what the columns are; the engine says what came.
      const typed = rows as R[];
      return WRITES.has(command ?? '') ? { rows: typed, numAffectedRows: BigInt(affectedRows ?? 0) } : { rows: typed };
    },
    streamQuery() {
      throw new Error('PGlite answers whole; it does not stream rows');
    },
    async begin() {
      const endTurn = await turns.take();
      try {
        const engine = await source.get();
        await engine.run('begin', []);
        transaction = { engine, endTurn };
      } catch (error) {
        endTurn();
        throw error;
      }
    },
    async end(statement) {
      // A commit that could not be flushed has ended its transaction nevertheless; and what a dead
      // engine had is gone.
      if (!transaction) return;
      const { engine, endTurn } = transaction;
      if (engine.dead() && statement === 'rollback') {
        transaction = null;
        endTurn();
        return;
      }
      let ended = false;
      try {
        await engine.run(statement, []);
        ended = true;
      } finally {
        if (ended || engine.dead()) {
          transaction = null;
          endTurn();
        }
      }
      upkeep.noticed(statement === 'commit', engine.logBytes());
      await engine.flushed();
    },
  };
}

function createDriver(shared: Shared): Driver {
  const { source, upkeep } = shared;
  const connections = new WeakMap<DatabaseConnection, EmbeddedConnection>();
  const known = (connection: DatabaseConnection) => {
    const found = connections.get(connection);
    if (!found) throw new Error('This connection is not of this driver');
    return found;
  };
  return {
    init: async () => void (await source.get()),
    acquireConnection() {
      const connection = createConnection(shared);
      connections.set(connection, connection);
      return Promise.resolve(connection);
    },
    releaseConnection: () => Promise.resolve(),
    beginTransaction: (connection) => known(connection).begin(),
    commitTransaction: (connection) => known(connection).end('commit'),
    rollbackTransaction: (connection) => known(connection).end('rollback'),
    async destroy() {
      await upkeep.close();
      await source.close();
    },
  };
}

export interface Embedded {
  readonly dialect: Dialect;
  readonly upkeep: Upkeep;
}

export function createEmbedded(source: EngineSource, settings?: UpkeepDeps['settings']): Embedded {
  const turns = createTurns();
  const upkeep = createUpkeep({
    async alone(run) {
      const endTurn = await turns.take();
      try {
        return await run(await source.get());
      } finally {
        endTurn();
      }
    },
    ...(settings && { settings }),
  });
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => createDriver({ source, turns, upkeep, pace: createPace() }),
  };
  return { dialect, upkeep };
}
