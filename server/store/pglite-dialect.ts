/**
 * Kysely on the embedded engine: Postgres' own SQL over the one connection that PGlite is. A
 * transaction has it alone from `begin` to its end, a single statement for as long as it runs.
 * Whoever wrote, or read what another wrote, waits for the disk outside of its turn: the next one
 * runs meanwhile, and one flush serves all who wait.
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
import { SCHEMA } from './schema.ts';

// What a Postgres server does in the background and PGlite, one process without helpers, never:
// checkpoints, without which the write-ahead log grows for ever, and vacuum, without which the room
// of rows that were dropped is not used again. Both are done in quiet moments, table by table, so
// that nobody waits for more than one of them; a checkpoint also under load, where the log has
// become long.

const UPKEEP_DEFAULTS = {
  /** ms without a statement that count as quiet. */
  quietMs: 3_000,
  /** Statements that wrote, after which a quiet moment is used. */
  afterWrites: 200,
  /** Bytes of the write-ahead log after which a checkpoint waits for no quiet moment. */
  logBytesMost: 6 * 2 ** 20,
} as const;

interface UpkeepDeps {
  /** Runs with the engine to itself; nothing of it needs to be waited for on disk. */
  readonly alone: <T>(run: (engine: Engine) => Promise<T>) => Promise<T>;
  readonly settings?: Partial<Record<keyof typeof UPKEEP_DEFAULTS, number>>;
}

interface Upkeep {
  /**
   * After every statement or transaction, with what the engine has put into its log since the last
   * checkpoint.
   */
  noticed(wrote: boolean, logBytes: number): void;
  /** All of it, now. Rejects where the store fails. */
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

  /** One at a time. What fails in the background shows where somebody asks for something. */
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
  const inTurn = createQueue();
  return {
    take: () => new Promise((give) => void inTurn(() => new Promise<void>((end) => give(end)))),
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
