/**
 * Kysely on the embedded engine: Postgres' own SQL over PGlite's single connection. A transaction
 * holds it from `begin` to its end, a single statement while it runs. A caller that wrote, or read
 * what another wrote, waits for the disk after its turn. The next caller runs meanwhile, and one
 * flush serves all that wait.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { createPace, type Pace } from '../platform/pace.ts';
import type { Engine, Rows } from './engine.ts';
import { SCHEMA } from './tables.ts';

// Upkeep that a Postgres server does in the background and PGlite, a single process, never does.
// Without checkpoints the write-ahead log grows for ever. Without vacuum the room of deleted rows
// is not reused. Both run in quiet moments, table by table, so that no caller waits for more than
// one of them. A long log also triggers a checkpoint under load.

const UPKEEP_DEFAULTS = {
  /** ms without a statement that count as quiet. */
  quietMs: 3_000,
  /** Writing statements after which a quiet moment is used. */
  afterWrites: 200,
  /** Bytes of the write-ahead log after which a checkpoint runs without a quiet moment. */
  logBytesMost: 6 * 2 ** 20,
} as const;

interface UpkeepDeps {
  /** Runs with exclusive use of the engine. Nothing in it waits for the disk. */
  readonly alone: <T>(run: (engine: Engine) => Promise<T>) => Promise<T>;
  readonly settings?: Partial<Record<keyof typeof UPKEEP_DEFAULTS, number>>;
}

interface Upkeep {
  /**
   * Called after every statement or transaction, with the bytes in the engine's log since the last
   * checkpoint.
   */
  noticed(wrote: boolean, logBytes: number): void;
  /** Runs all upkeep now. Rejects where the store fails. */
  run(): Promise<void>;
  close(): Promise<void>;
}

function createUpkeep({ alone, settings = {} }: UpkeepDeps): Upkeep {
  const { quietMs, afterWrites, logBytesMost } = { ...UPKEEP_DEFAULTS, ...settings };
  let writes = 0;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let closed = false;

  const checkpoint = async (engine: Engine) => void (await engine.run('checkpoint', []));

  async function vacuum(): Promise<void> {
    const { rows } = await alone((engine) =>
      engine.run(
        'select quote_ident(schemaname) || $1 || quote_ident(tablename) as name from pg_tables where schemaname = $2',
        ['.', SCHEMA],
      ),
    );
    for (const { name } of rows) {
      if (closed) return;
      await alone((engine) => engine.run(`vacuum ${String(name)}`, []));
    }
  }

  async function tidy(): Promise<void> {
    writes = 0;
    await vacuum();
    await alone(checkpoint);
  }

  /** One at a time. A failure in the background shows at the next request. */
  function start(work: () => Promise<void>): void {
    running ??= work()
      .catch(() => undefined)
      .finally(() => (running = null));
  }

  return {
    noticed(wrote, logBytes) {
      if (closed) return;
      if (wrote) writes += 1;
      if (logBytes > logBytesMost) start(() => alone(checkpoint));
      if (timer) timer.refresh();
      else if (writes >= afterWrites) {
        timer = setTimeout(() => {
          timer = null;
          start(tidy);
        }, quietMs);
        timer.unref();
      }
    },
    async run() {
      await running;
      await tidy();
    },
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** An engine while it lives, and then another one. */
export interface EngineSource {
  /** The engine, opened where there is none. */
  get(): Promise<Engine>;
  close(): Promise<void>;
}

/** Turns in order of request. `take` resolves with the function that ends the turn. */
function createTurns(): { take(): Promise<() => void> } {
  const inTurn = createQueue();
  return {
    take: () => new Promise((give) => void inTurn(() => new Promise<void>((end) => give(end)))),
  };
}

/** The state of a connection during a transaction. */
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
   * The engine runs in the relay's own thread, so other work gets a turn between two statements.
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
      // Kysely's types define the columns, and the engine returned the rows.
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
      // A commit whose flush failed has ended its transaction nevertheless. A dead engine's
      // transaction is gone.
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
