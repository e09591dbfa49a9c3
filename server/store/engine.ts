/**
 * One PGlite on its folder. It runs SQL, and answers nothing before it is on disk.
 *
 * A statement is prepared once and then costs one call into Postgres instead of six. An engine can
 * die: Postgres gives up if it cannot write its log, and WebAssembly if it runs out of memory.
 * PGlite swallows that and returns nothing. This module notices and reports it, and never uses the
 * engine again.
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync } from 'node:fs';
import { resolve } from 'node:path';
import { PGlite, protocol, types } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { z } from 'zod';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { createPace, type Pace } from '../platform/pace.ts';
import type { Database } from './database-watch.ts';
import { EngineDied, isAway } from './store-error.ts';
import { SCHEMA } from './tables.ts';

// Makes the files of the embedded store survive a power failure. Emscripten's NODEFS writes to real
// files but has no `fsync`: Postgres calls it at every commit, and nothing happens. Here the calls
// take effect:
//
// - A data file, a folder, the control file: `fsync`, at once.
// - The write-ahead log: the flush is owed, and `flushed()` performs it off the main thread, once
//   for all callers that wait together. Nobody is answered before. Postgres continues meanwhile as
//   if the log had been flushed. That is safe because the order is preserved: an owed flush is
//   performed before any other file is written, renamed, truncated or removed.
//
// Postgres' rules for files are in its manual, "Reliability and the Write-Ahead Log".

interface NodeEntry {
  readonly mode: number;
}
/** The part of Emscripten's NODEFS that is changed here; `src/lib/libnodefs.js` of Emscripten. */
interface NodeStream {
  nfd: number;
  readonly node: NodeEntry;
  readonly shared: { refcount: number };
}
type Operation = (...given: never[]) => unknown;
interface NodeFiles {
  readonly stream_ops: Record<string, Operation>;
  readonly node_ops: Record<string, Operation>;
  realPath(node: unknown): string;
  tryFSOperation<T>(operation: () => T): T;
}

/** Operations that change a name, a folder or a length, and so what a restart finds. */
const CHANGING = ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink'] as const;
const KIND_MASK = 0o170000;
const FILE = 0o100000;
/** Permission bits of everybody but the owner. */
const OTHERS = 0o077;
const LOG_FILE = /[\\/]pg_wal[\\/][^\\/]+$/;

interface DurableFiles {
  readonly filesystem: NodeFS;
  /**
   * Resolves when everything that Postgres wanted flushed so far is on disk. Rejects where that
   * failed: the engine must be abandoned then.
   */
  flushed(): Promise<void>;
  /** Bytes written to the write-ahead log since `forgetLogBytes`. */
  logBytes(): number;
  forgetLogBytes(): void;
  /** Closes the open files of an abandoned engine. */
  abandon(): void;
}

/** Emscripten sets the requested mode, whatever the umask. */
const closedToOthers =
  (setattr: Operation | undefined): Operation =>
  (first: never, { mode, ...rest }: { readonly mode?: number }) =>
    setattr?.(first, { ...rest, ...(mode === undefined ? {} : { mode: mode & ~OTHERS }) } as never);

function createDurableFiles(folder: string): DurableFiles {
  /** Open files of the write-ahead log with an owed flush, and those that are being flushed now. */
  const owed = new Set<number>();
  const flushing = new Set<number>();
  /** Files that Postgres closed while they were being flushed. */
  const closing = new Set<number>();
  const open = new Set<number>();
  let logBytes = 0;
  let asked = 0;
  let paid = 0;
  let running: Promise<void> | null = null;
  /**
   * After a failed flush the state of the disk is unknown, and a later successful one says nothing
   * about it.
   */
  let failure: Error | null = null;

  const flushOne = (fd: number) =>
    new Promise<void>((done, failed) => fdatasync(fd, (error) => (error ? failed(error) : done())));

  async function flushOwed(): Promise<void> {
    const upTo = asked;
    for (const fd of owed) flushing.add(fd);
    owed.clear();
    try {
      await Promise.all([...flushing].map(flushOne));
      paid = Math.max(paid, upTo);
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error));
    } finally {
      flushing.clear();
      for (const fd of closing) closeSync(fd);
      closing.clear();
      running = null;
    }
  }

  function payNow(): void {
    if (failure) throw failure;
    if (paid === asked) return;
    try {
      for (const fd of new Set([...owed, ...flushing])) fdatasyncSync(fd);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    }
    owed.clear();
    paid = asked;
  }

  function makeDurable(files: NodeFiles): void {
    const { stream_ops: streams, node_ops: nodes } = files;
    const logFiles = new WeakMap<object, boolean>();
    const isLog = (stream: NodeStream) => {
      let known = logFiles.get(stream.shared);
      if (known === undefined) logFiles.set(stream.shared, (known = LOG_FILE.test(files.realPath(stream.node))));
      return known;
    };
    /**
     * Files without a change since they were flushed here: after a crash Postgres flushes every
     * file, twice.
     */
    const clean = new WeakSet<NodeEntry>();
    const paying =
      (operation: Operation | undefined): Operation =>
      (...given: never[]) => {
        files.tryFSOperation(payNow);
        return operation?.(...given);
      };
    for (const name of CHANGING) nodes[name] = paying(nodes[name]);
    streams['setattr'] = paying(streams['setattr']);
    const forget =
      (operation: Operation | undefined, entryOf: (first: never) => NodeEntry): Operation =>
      (first: never, ...given: never[]) => {
        clean.delete(entryOf(first));
        return operation?.(first, ...given);
      };
    nodes['setattr'] = forget(closedToOthers(nodes['setattr']), (node: NodeEntry) => node);
    streams['setattr'] = forget(closedToOthers(streams['setattr']), (stream: NodeStream) => stream.node);

    const { open: openFile, write } = streams;
    streams['open'] = (stream: NodeStream) => {
      openFile?.(stream as never);
      open.add(stream.nfd);
    };
    streams['write'] = (stream: NodeStream, ...given: never[]) => {
      if (!isLog(stream)) files.tryFSOperation(payNow);
      else logBytes += Number(given[2]);
      clean.delete(stream.node);
      return write?.(stream as never, ...given);
    };
    streams['fsync'] = (stream: NodeStream) => {
      if (isLog(stream)) {
        owed.add(stream.nfd);
        asked += 1;
      } else if (!clean.has(stream.node))
        files.tryFSOperation(() => {
          payNow();
          fsyncSync(stream.nfd);
          if ((stream.node.mode & KIND_MASK) === FILE) clean.add(stream.node);
        });
      return 0;
    };
    streams['close'] = (stream: NodeStream) => {
      stream.shared.refcount -= 1;
      if (stream.shared.refcount > 0) return;
      open.delete(stream.nfd);
      files.tryFSOperation(() => {
        if (owed.has(stream.nfd)) payNow();
        if (flushing.has(stream.nfd)) closing.add(stream.nfd);
        else closeSync(stream.nfd);
      });
    };
  }

  class DurableFs extends NodeFS {
    override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
      const prepare = (module: object) => {
        // Emscripten's types do not name its filesystems.
        makeDurable((module as { NODEFS: NodeFiles }).NODEFS);
      };
      return super.init(pg, { ...options, preRun: [...(options.preRun ?? []), prepare] });
    }
  }

  return {
    filesystem: new DurableFs(resolve(folder)),
    async flushed() {
      const upTo = asked;
      while (paid < upTo) {
        if (failure) throw failure;
        await (running ??= flushOwed());
      }
    },
    logBytes: () => logBytes,
    forgetLogBytes: () => void (logBytes = 0),
    abandon() {
      for (const fd of open) if (!flushing.has(fd)) closeSync(fd);
      for (const fd of open) if (flushing.has(fd)) closing.add(fd);
      open.clear();
      owed.clear();
    },
  };
}

// Operations that must complete despite an outage of the database, and must not run twice.

/** The result of `run`, once the database can be reached. `run` is repeated after each outage. */
export async function enduring<Value>(
  database: Pick<Database, 'untilThere'>,
  run: () => Promise<Value>,
): Promise<Value> {
  for (;;)
    try {
      return await run();
    } catch (error) {
      if (!isAway(error)) throw error;
      await database.untilThere();
    }
}

interface InDoubt<Done> {
  /** Null: it changed nothing. */
  readonly write: () => Promise<Done | null>;
  /** The result of an earlier `write`. Null: it was not stored. */
  readonly check: () => Promise<Done | null>;
}

/**
 * Writes once, also where the connection breaks before the answer arrives. Rejects with
 * `DatabaseAway` only after the database was waited for in vain. A server that stood still may
 * carry out an accepted write late, after a first look.
 */
export async function writeOnce<Done>({ write, check }: InDoubt<Done>): Promise<Done | null> {
  for (let unsure = false; ;)
    try {
      return (await write()) ?? (unsure ? await check() : null);
    } catch (error) {
      if (!isAway(error) || error.sent === 'not') throw error;
      if (error.sent === 'undone') continue;
      unsure = true;
      const done = await check();
      if (done !== null) return done;
    }
}

/** For idempotent writes: it is repeated where the connection broke before the answer arrived. */
export async function repeated<Done>(write: () => Promise<Done>): Promise<Done> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      if (!isAway(error) || error.sent === 'not') throw error;
    }
}

/** Postgres' start parameters: PGlite's own list without `-F`, which turns off all flushes. */
const START = PGlite.defaultStartParams.filter((param) => param !== '-F');

const SETTINGS = [
  // Postgres' default of 128 MB is for servers. The relay's working set is a few megabytes.
  'shared_buffers=16MB',
  'max_connections=4',
  // Emscripten has no fdatasync. `createDurableFiles` decides what an fsync does.
  'wal_sync_method=fsync',
  // A plan that was made for an empty table would stay in use when the table is full.
  'plan_cache_mode=force_custom_plan',
  'min_wal_size=2MB',
  'max_wal_size=8MB',
];

/** Postgres' exit status for a failed statement. Any other exit is the end of the engine. */
const FAILED_STATEMENT = 100;
const exitSchema = z.object({ status: z.number() });

/**
 * Statements that stay prepared. The relay has a few hundred, and lists of varying length add more.
 */
const PREPARED_MOST = 500;
/** Only these are prepared. The others are rare, and may change what a prepared one means. */
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i;
const HARMLESS = /^\s*(begin|commit|rollback|savepoint|release|checkpoint|vacuum|analyze)\b/i;

const CHECKPOINT = /^\s*checkpoint\b/i;

interface Rows {
  readonly rows: Record<string, unknown>[];
  readonly affectedRows: number | undefined;
  readonly command: string | undefined;
}

export interface Engine {
  /**
   * Runs one statement. Callers run one at a time. Rejects with `EngineDied` where the engine is
   * gone.
   */
  run(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  /** Resolves when everything that was run so far is on disk. */
  flushed(): Promise<void>;
  dead(): EngineDied | null;
  /** Approximate bytes of the write-ahead log since the last checkpoint. */
  logBytes(): number;
  close(): Promise<void>;
}

type Values = NonNullable<NonNullable<Parameters<typeof protocol.serialize.bind>[0]>['values']>;
type Messages = Awaited<ReturnType<PGlite['execProtocol']>>['messages'];

interface Prepared {
  readonly name: string;
  readonly types: readonly number[];
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/**
 * PGlite's own conversion takes a microsecond per byte and blocks everything: seconds for a
 * picture.
 */
const BYTES = {
  serializers: {
    [types.BYTEA]: (value: unknown) => {
      if (!(value instanceof Uint8Array)) throw new Error('Only bytes go into a column of bytes.');
      return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
    },
  },
  parsers: { [types.BYTEA]: (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex')) },
};

function readRows(messages: Messages, parsers: PGlite['parsers']): Rows {
  const found: { rows: Record<string, unknown>[]; affectedRows: number | undefined; command: string | undefined } = {
    rows: [],
    affectedRows: undefined,
    command: undefined,
  };
  let fields: { name: string; parse: ((text: string, type: number) => unknown) | undefined; type: number }[] = [];
  for (const message of messages) {
    if (message instanceof protocol.messages.RowDescriptionMessage)
      fields = message.fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID, parse: parsers[dataTypeID] }));
    else if (message instanceof protocol.messages.DataRowMessage) {
      const row: Record<string, unknown> = {};
      fields.forEach(({ name, parse, type }, i) => {
        const text = message.fields[i] ?? null;
        row[name] = text === null || !parse ? text : parse(text, type);
      });
      found.rows.push(row);
    } else if (message instanceof protocol.messages.CommandCompleteMessage) {
      const words = message.text.split(' ');
      const count = Number(words.at(-1));
      found.command = words[0];
      found.affectedRows = Number.isNaN(count) ? undefined : count;
    }
  }
  return found;
}

export async function openEngine(folder: string): Promise<Engine> {
  const files = createDurableFiles(folder);
  let death: EngineDied | null = null;
  let lastWord = '';
  const die = (error: unknown): EngineDied => {
    if (!death) {
      death = new EngineDied(lastWord || errorMessage(error), { cause: error });
      files.abandon();
    }
    return death;
  };
  const onStderr = (line: string) => {
    if (/\b(PANIC|FATAL):/.test(line)) lastWord = line.replace(/^.*?(PANIC|FATAL):\s*/, '');
    return false;
  };
  let pglite: PGlite;
  try {
    pglite = await PGlite.create({
      fs: files.filesystem,
      postgresqlconf: SETTINGS,
      startParams: START,
      onStderr,
      ...BYTES,
    });
  } catch (error) {
    throw die(error);
  }

  const module = pglite.Module;
  const runLoop = module._PostgresMainLoopOnce.bind(module);
  module._PostgresMainLoopOnce = () => {
    try {
      runLoop();
    } catch (error) {
      const exit = exitSchema.safeParse(error);
      if (exit.success && exit.data.status === FAILED_STATEMENT) throw error;
      const died = die(error);
      // PGlite continues after any error, and would call these next.
      const refuse = () => {
        throw died;
      };
      Object.assign(module, { stackRestore: refuse, _PostgresSendReadyForQueryIfNecessary: refuse });
      throw died;
    }
  };

  const { serialize } = protocol;
  const prepared = new Map<string, Prepared>();
  let named = 0;
  const send = async (...parts: readonly Uint8Array[]) =>
    (await pglite.execProtocol(joined(...parts), { syncToFs: false })).messages;

  async function prepare(sql: string): Promise<Prepared> {
    const known = prepared.get(sql);
    if (known) {
      prepared.delete(sql);
      prepared.set(sql, known);
      return known;
    }
    const name = `s${++named}`;
    const messages = await send(
      serialize.parse({ name, text: sql, types: [] }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    );
    const described = messages.find((message) => message instanceof protocol.messages.ParameterDescriptionMessage);
    const made = { name, types: described?.dataTypeIDs ?? [] };
    prepared.set(sql, made);
    const oldest = prepared.size > PREPARED_MOST ? prepared.entries().next().value : undefined;
    if (oldest) {
      prepared.delete(oldest[0]);
      await send(serialize.close({ type: 'S', name: oldest[1].name }), serialize.sync());
    }
    return made;
  }

  async function runPrepared(sql: string, parameters: readonly unknown[]): Promise<Rows> {
    const { name, types } = await prepare(sql);
    const values: Values = parameters.map((value, i) => {
      if (value === null || value === undefined) return null;
      const toText = pglite.serializers[types[i] ?? 0];
      return toText ? toText(value) : String(value);
    });
    return readRows(
      await send(
        serialize.bind({ statement: name, values }),
        serialize.describe({ type: 'P' }),
        serialize.execute({}),
        serialize.sync(),
      ),
      pglite.parsers,
    );
  }

  async function runOnce(sql: string, parameters: readonly unknown[]): Promise<Rows> {
    if (CHECKPOINT.test(sql)) files.forgetLogBytes();
    const { rows, affectedRows, command } = await pglite.query<Record<string, unknown>>(sql, [...parameters]);
    if (!HARMLESS.test(sql) && prepared.size > 0) {
      prepared.clear();
      await pglite.exec('deallocate all');
    }
    return { rows, affectedRows, command };
  }

  return {
    async run(sql, parameters) {
      if (death) throw death;
      try {
        return await (PREPARABLE.test(sql) ? runPrepared(sql, parameters) : runOnce(sql, parameters));
      } catch (error) {
        // After its engine has died, PGlite's own error is only a consequence.
        throw death ?? error;
      }
    },
    async flushed() {
      if (death) throw death;
      try {
        await files.flushed();
      } catch (error) {
        throw die(error);
      }
    },
    dead: () => death,
    logBytes: () => files.logBytes(),
    async close() {
      if (death) return;
      await pglite.close();
    },
  };
}

// Kysely on the embedded engine: Postgres' own SQL over PGlite's single connection. A transaction
// holds it from `begin` to its end, a single statement while it runs. A caller that wrote, or read
// what another wrote, waits for the disk after its turn. The next caller runs meanwhile, and one
// flush serves all that wait.

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
