/**
 * The embedded store: one SQLite file, in a thread of its own, behind Kysely.
 *
 * SQLite answers a commit when it is on disk (`synchronous = FULL`), and blocks its thread
 * meanwhile. So it runs beside the relay's thread. The binding has the interface of `node:sqlite`,
 * which can take its place once Node 20 is given up.
 *
 * There is one connection. A transaction has it alone from its first statement to its end. So
 * transactions never mix, and a statement outside of one never sees its rows. Statements that wait
 * together outside of transactions share one commit, and each is answered after it. Each message
 * to the thread costs both sides more than most statements do, so a transaction whose statements
 * are known in advance is sent whole: `runTogether` in `together.ts`.
 *
 * SQLite has no `boolean`: a column that is declared as one returns `true` or `false` here.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely';
import { createDeferred, type Deferred } from '../../src/shared/domain/platform/deferred.ts';
import { SqliteCompiler } from './compilers.ts';
import { EMBEDDED_LIMITS } from './settings.ts';
import { explained, SQLITE, StoreError, UnstorableText } from './store-error.ts';

/** The file in the store's folder. */
export const STORE_FILE = 'roost.db';

// The thread. It runs one message after the other: a list of units. A unit is a list of statements
// that run all or none. Each is answered with the rows of its statements, up to the first error.

/**
 * CommonJS, as a worker made from text requires. The package's address is resolved out here, where
 * it is known.
 *
 * - `alone`: each unit is committed by itself.
 * - `together`: all are committed at once. If that fails, each is tried alone.
 * - `begin`: a transaction begins with the first. It stays open.
 * - `within`: in the open transaction. SQLite ends a transaction by itself where the disk fails. A
 *   later statement must not run outside of it.
 *
 * Only units of one statement are sent by `begin` and `within`.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require(workerData.sqlite);
const told = ({ message, errcode }) => ({ message, code: errcode ?? null });
let database;
try {
  database = new DatabaseSync(workerData.file);
  for (const pragma of workerData.pragmas) database.exec('pragma ' + pragma);
  if (workerData.isChecked) {
    const { quick_check: found } = database.prepare('pragma quick_check(1)').get();
    if (found !== 'ok') throw { message: found, errcode: workerData.corrupt };
  }
} catch (error) {
  parentPort.postMessage(told(error));
  process.exit();
}
const prepared = new Map();
function prepare(sql) {
  let known = prepared.get(sql);
  if (known) {
    prepared.delete(sql);
  } else {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    const columns = statement.columns().map(({ name, type }) => [name, type === 'boolean']);
    known = { statement, columns };
  }
  prepared.set(sql, known);
  if (prepared.size > workerData.preparedMost) prepared.delete(prepared.keys().next().value);
  return known;
}
function run({ sql, parameters }) {
  try {
    const { statement, columns } = prepare(sql);
    if (columns.length === 0) {
      // A change of the schema may change what a prepared statement returns.
      if (/^\\s*(create|alter|drop)\\b/i.test(sql)) prepared.clear();
      return { columns, rows: [], changes: Number(statement.run(...parameters).changes) };
    }
    const rows = statement.all(...parameters);
    return { columns, rows, changes: rows.length };
  } catch (error) {
    return told(error);
  }
}
const end = (how) => {
  if (database.isTransaction) database.exec(how);
};
// In an open transaction. What a failed statement has done is undone by SQLite.
function runUnit({ statements, ifFirstChanges }) {
  if (statements.length === 1) return statements.map(run);
  const results = [];
  const isOver = ({ message, changes }) =>
    message !== undefined || (ifFirstChanges && results.length === 1 && changes === 0);
  database.exec('savepoint unit');
  for (const statement of statements) {
    const result = run(statement);
    results.push(result);
    if (!isOver(result)) continue;
    end('rollback to unit');
    break;
  }
  end('release unit');
  return results;
}
function commit(units) {
  database.exec('begin immediate');
  const results = units.map(runUnit);
  if (!database.isTransaction) throw new Error('SQLite has ended the transaction');
  database.exec('commit');
  return results;
}
function runAlone(unit) {
  if (unit.statements.length === 1) return unit.statements.map(run);
  try {
    return commit([unit])[0];
  } catch (error) {
    end('rollback');
    return [told(error)];
  }
}
function runTogether(units) {
  try {
    return commit(units);
  } catch {
    end('rollback');
    return units.map(runAlone);
  }
}
const ENDED = { message: 'The transaction has ended: an earlier statement of it failed', code: null };
const ways = {
  alone: (units) => units.map(runAlone),
  together: runTogether,
  begin(units) {
    const begun = run({ sql: 'begin immediate', parameters: [] });
    return 'message' in begun ? units.map(() => [begun]) : units.map(runUnit);
  },
  within: (units) => units.map((unit) => (database.isTransaction ? runUnit(unit) : [ENDED])),
  rollback() {
    end('rollback');
    return [];
  },
};
parentPort.on('message', ({ way, units }) => {
  if (way === 'close') {
    prepared.clear();
    database.close();
    parentPort.close();
  } else parentPort.postMessage(ways[way](units));
});
parentPort.postMessage('open');
`;

/** Exported for measurements beside it. */
export const PRAGMAS = [
  // Nobody else opens the file while it is open here. It also needs no shared memory beside it.
  'locking_mode = exclusive',
  'journal_mode = wal',
  'synchronous = full',
  // macOS flushes the disk's own cache only when it is asked to. Elsewhere they mean nothing.
  'fullfsync = on',
  'checkpoint_fullfsync = on',
  'foreign_keys = on',
  `busy_timeout = ${EMBEDDED_LIMITS.busyMs}`,
  `journal_size_limit = ${EMBEDDED_LIMITS.walBytes}`,
  // In kibibytes where it is negative.
  `cache_size = -${EMBEDDED_LIMITS.cacheKb}`,
  'temp_store = memory',
  // What is deleted is overwritten, and not only given free.
  'secure_delete = on',
];

type Way = 'alone' | 'together' | 'begin' | 'within' | 'rollback';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** `ifFirstChanges`: where the first statement changes no row, the others do not run. */
interface Unit {
  readonly statements: readonly Statement[];
  readonly ifFirstChanges?: boolean;
}

interface Rows {
  /** Name, and whether it is declared as boolean. */
  readonly columns: readonly (readonly [string, boolean])[];
  readonly rows: readonly (readonly unknown[])[];
  readonly changes: number;
}
/** `code`: SQLite's extended result code. */
interface Failure {
  readonly message: string;
  readonly code: number | null;
}
type Result = Rows | Failure;

interface Thread {
  /**
   * Calls are answered in their order, and units too. When the thread has ended, every unit fails.
   */
  run(way: Way, units: readonly Unit[]): Promise<readonly (readonly Result[])[]>;
  close(): Promise<void>;
}

/** For a thread whose only statements are awaited. */
const NOTHING = () => undefined;

const LOST: Failure = { message: 'The thread of the store has ended', code: null };

/** `onLost`: the thread ended without being closed. What it had not answered may be on disk. */
async function openThread(file: string, isChecked: boolean, onLost: (error: Error) => void): Promise<Thread> {
  const worker = new Worker(THREAD, {
    eval: true,
    execArgv: [],
    workerData: {
      sqlite: createRequire(import.meta.url).resolve('@photostructure/sqlite'),
      file,
      pragmas: PRAGMAS,
      isChecked,
      corrupt: SQLITE.corrupt,
      preparedMost: EMBEDDED_LIMITS.preparedMost,
    },
  });
  const exited = createDeferred();
  worker.once('exit', () => exited.resolve());
  const [opened] = (await once(worker, 'message')) as ['open' | Failure];
  if (opened !== 'open') throw new SqliteError(opened);
  const waiting: { readonly answer: Deferred<readonly (readonly Result[])[]>; readonly units: readonly Unit[] }[] = [];
  let state: 'open' | 'closing' | 'ended' = 'open';
  worker.on('message', (results: readonly (readonly Result[])[]) => waiting.shift()?.answer.resolve(results));
  function end(error: Error): void {
    const isLost = state === 'open';
    state = 'ended';
    for (const { answer, units } of waiting.splice(0)) answer.resolve(units.map(() => [LOST]));
    if (isLost) onLost(error);
  }
  worker.once('error', end);
  worker.once('exit', (code) => end(new Error(`it exited with ${code}`)));
  return {
    run(way, units) {
      if (state === 'ended') return Promise.resolve(units.map(() => [LOST]));
      const answer = createDeferred<readonly (readonly Result[])[]>();
      waiting.push({ answer, units });
      worker.postMessage({ way, units });
      return answer.promise;
    },
    async close() {
      if (state === 'open') {
        state = 'closing';
        worker.postMessage({ way: 'close', units: [] });
      }
      await exited.promise;
    },
  };
}

/** Resolves with the result of one statement. */
async function runOne(thread: Thread, way: Way, statement: Statement): Promise<Result> {
  const [[result = UNANSWERED] = []] = await thread.run(way, [{ statements: [statement] }]);
  return result;
}

// Turns. The connection belongs to one transaction, or to the units that wait together.

interface Waiting {
  readonly unit: Unit;
  readonly answer: Deferred<readonly Result[]>;
}
type Turn = Waiting | { readonly begin: (end: () => void) => void };

const READS = /^\s*select\b/i;
/** Statements that no transaction may hold. */
const ALONE = /^\s*pragma\b/i;
const UNANSWERED: Failure = { message: 'The store has not answered', code: null };

function createTurns(thread: Thread) {
  const waiting: Turn[] = [];
  let state: 'free' | 'starting' | 'busy' = 'free';

  async function runUnits(all: readonly Waiting[]): Promise<void> {
    const units = all.map(({ unit }) => unit);
    const isEvery = (kind: RegExp) => units.every(({ statements }) => statements.every(({ sql }) => kind.test(sql)));
    const isAny = (kind: RegExp) => units.some(({ statements }) => statements.some(({ sql }) => kind.test(sql)));
    const together = all.length > 1 && !isEvery(READS) && !isAny(ALONE);
    const results = await thread.run(together ? 'together' : 'alone', units);
    all.forEach(({ answer }, i) => answer.resolve(results[i] ?? [UNANSWERED]));
  }
  function next(): void {
    const first = waiting[0];
    if (!first) {
      state = 'free';
      return;
    }
    state = 'busy';
    if ('begin' in first) {
      waiting.shift();
      first.begin(next);
      return;
    }
    const units: Waiting[] = [];
    for (let turn = waiting[0]; turn && !('begin' in turn); turn = waiting[0]) {
      if (units.length === EMBEDDED_LIMITS.togetherMost) break;
      units.push(turn);
      waiting.shift();
    }
    void runUnits(units).finally(next);
  }

  /** Deferred by a microtask, so that units of the same tick share a message to the thread. */
  function add(turn: Turn): void {
    waiting.push(turn);
    if (state !== 'free') return;
    state = 'starting';
    queueMicrotask(next);
  }

  return {
    run(unit: Unit): Promise<readonly Result[]> {
      const answer = createDeferred<readonly Result[]>();
      add({ unit, answer });
      return answer.promise;
    },
    /** Resolves when the connection is the caller's, with the function that returns it. */
    take: () => new Promise<() => void>((begin) => add({ begin })),
  };
}

// Kysely's driver.

/** SQLite ends a text at the character NUL, without a word. */
const NUL = '\u0000';

function parameterOf(value: unknown): unknown {
  if (typeof value === 'string' && value.includes(NUL)) throw new UnstorableText('The text contains the character NUL');
  // A view of a larger buffer would be sent to the thread with all of it.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  return value ?? null;
}

function rowOf({ columns }: Rows, values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  columns.forEach(([name, isBoolean], i) => {
    const value = values[i];
    row[name] = isBoolean && value !== null ? value === 1 : value;
  });
  return row;
}

/** `code`: SQLite's extended result code. */
class SqliteError extends Error {
  override name = 'SqliteError';
  readonly code: number | null;

  constructor({ message, code }: Failure) {
    super(message);
    this.code = code;
  }
}

/** A connection of Kysely's, and its transaction if it has begun one. */
interface Connection extends DatabaseConnection {
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /**
   * Runs the queries in a transaction of their own, all or none. Resolves with the rows that each
   * has changed. Null: `ifFirstChanges` was asked for, and the first changed none.
   */
  runTogether(queries: readonly CompiledQuery[], ifFirstChanges: boolean): Promise<readonly number[] | null>;
}

const statementOf = ({ sql, parameters }: CompiledQuery): Statement => ({
  sql,
  parameters: parameters.map(parameterOf),
});

/** Whether this connection is one of the embedded store. */
export const isConnection = (connection: DatabaseConnection): connection is Connection => 'runTogether' in connection;

function createConnection(thread: Thread, turns: Turns): Connection {
  /** `begun`: its first statement was sent, and `begin` with it. */
  let transaction: { begun: boolean; readonly endTurn: () => void } | null = null;

  async function resultOf(statement: Statement): Promise<Result> {
    if (!transaction) {
      const [result = UNANSWERED] = await turns.run({ statements: [statement] });
      return result;
    }
    const way = transaction.begun ? 'within' : 'begin';
    transaction.begun = true;
    return await runOne(thread, way, statement);
  }
  async function run(statement: Statement): Promise<Rows> {
    const result = await resultOf(statement);
    if ('message' in result) throw new SqliteError(result);
    return result;
  }
  function end(): void {
    transaction?.endTurn();
    transaction = null;
  }

  return {
    async runTogether(queries, ifFirstChanges) {
      const results = await turns.run({ statements: queries.map(statementOf), ifFirstChanges });
      const changes = results.map((result) => {
        if ('message' in result) throw new SqliteError(result);
        return result.changes;
      });
      return changes.length === queries.length ? changes : null;
    },
    async executeQuery<R>(query: CompiledQuery) {
      const result = await run(statementOf(query));
      // Kysely's types define the columns, and SQLite returned the rows.
      const rows = result.rows.map((values) => rowOf(result, values)) as R[];
      return READS.test(query.sql) ? { rows } : { rows, numAffectedRows: BigInt(result.changes) };
    },
    streamQuery() {
      throw new Error('The embedded store does not stream rows');
    },
    async begin() {
      transaction = { begun: false, endTurn: await turns.take() };
    },
    async commit() {
      if (transaction?.begun) await run({ sql: 'commit', parameters: [] });
      end();
    },
    async rollback() {
      if (transaction?.begun) await thread.run('rollback', []);
      end();
    },
  };
}

type Turns = ReturnType<typeof createTurns>;

function createDriver(thread: Thread, turns: Turns): Driver {
  const connections = new WeakMap<DatabaseConnection, Connection>();
  const connectionOf = (connection: DatabaseConnection) => {
    const found = connections.get(connection);
    if (!found) throw new Error('This connection is not of this driver');
    return found;
  };
  return {
    init: () => Promise.resolve(),
    acquireConnection() {
      const connection = createConnection(thread, turns);
      connections.set(connection, connection);
      return Promise.resolve(connection);
    },
    releaseConnection: () => Promise.resolve(),
    beginTransaction: (connection) => connectionOf(connection).begin(),
    commitTransaction: (connection) => connectionOf(connection).commit(),
    rollbackTransaction: (connection) => connectionOf(connection).rollback(),
    async destroy() {
      // What was asked before is done before.
      const endTurn = await turns.take();
      endTurn();
      await thread.close();
    },
  };
}

class EmbeddedAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

const createDialect = (thread: Thread, turns: Turns): Dialect => ({
  createAdapter: () => new EmbeddedAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteCompiler(),
  createDriver: () => createDriver(thread, turns),
});

// Copies. SQLite writes one without what was deleted. Nothing may be at the path of the copy.

/** Other statements wait meanwhile. */
async function copyOpen(thread: Thread, turns: Turns, to: string): Promise<void> {
  const endTurn = await turns.take();
  try {
    const result = await runOne(thread, 'alone', { sql: 'vacuum into ?', parameters: [to] });
    if ('message' in result) throw new SqliteError(result);
  } finally {
    endTurn();
  }
}

/**
 * Copies a store that no relay has open. It is not migrated. Throws `StoreError` where it is
 * damaged.
 */
export async function copyEmbedded(folder: string, to: string): Promise<void> {
  let thread: Thread | null = null;
  try {
    thread = await openThread(join(folder, STORE_FILE), true, NOTHING);
    await copyOpen(thread, createTurns(thread), to);
  } catch (error) {
    throw new StoreError(`The store in ${folder} cannot be copied: ${explained(error)}`, { cause: error });
  } finally {
    await thread?.close();
  }
}

/** What is wrong in a store that no relay has open. Empty: nothing. Throws `StoreError`. */
export async function checkEmbedded(folder: string): Promise<readonly string[]> {
  let thread: Thread | null = null;
  try {
    thread = await openThread(join(folder, STORE_FILE), false, NOTHING);
    const result = await runOne(thread, 'alone', { sql: 'pragma integrity_check', parameters: [] });
    if ('message' in result) throw new SqliteError(result);
    return result.rows.map(([found]) => String(found)).filter((found) => found !== 'ok');
  } catch (error) {
    throw new StoreError(`The store in ${folder} cannot be read: ${explained(error)}`, { cause: error });
  } finally {
    await thread?.close();
  }
}

// The store's folder.

/** Makes the names in a folder survive a power failure. Windows cannot do that. */
function flushFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The file is closed to others, and so is what SQLite puts beside it. */
function makeFile(file: string): void {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  flushFolder(dirname(file));
  flushFolder(dirname(dirname(file)));
}

/** PGlite, which was the embedded store before, left this file in its folder. */
const OF_PGLITE = 'PG_VERSION';

/** Puts the folder of an earlier kind of store aside, unchanged. Returns its new path, if any. */
async function setAside(folder: string): Promise<string | null> {
  if (!existsSync(join(folder, OF_PGLITE))) return null;
  const names = Array.from(
    { length: EMBEDDED_LIMITS.setAsideMost },
    (_none, i) => `-before-sqlite${i === 0 ? '' : `-${i + 1}`}`,
  );
  const free = names
    .map((name) => join(dirname(folder), `${basename(folder)}${name}`))
    .find((path) => !existsSync(path));
  if (free === undefined) throw new Error(`too many earlier stores lie beside it; move one away`);
  await rename(folder, free);
  return free;
}

interface Embedded {
  readonly dialect: Dialect;
  /** Writes a copy of the store as it is now. */
  readonly copyTo: (file: string) => Promise<void>;
}

/**
 * The embedded store in `folder`, made where there is none. `onSetAside`: called with the new path
 * of an earlier kind of store. `onLost`: the store has ended by itself, and every statement fails.
 * Throws `StoreError` where the store cannot be made or opened.
 */
export async function openEmbedded(
  folder: string,
  { onSetAside, onLost }: { onSetAside?: ((path: string) => void) | undefined; onLost: (error: Error) => void },
): Promise<Embedded> {
  try {
    const aside = await setAside(folder);
    if (aside !== null) onSetAside?.(aside);
    const file = join(folder, STORE_FILE);
    makeFile(file);
    // SQLite removes its log when it is closed in good order.
    const isUnclean = existsSync(`${file}-wal`);
    const thread = await openThread(file, isUnclean, onLost);
    const turns = createTurns(thread);
    return { dialect: createDialect(thread, turns), copyTo: (to) => copyOpen(thread, turns, to) };
  } catch (error) {
    throw new StoreError(`The store in ${folder} cannot be opened: ${explained(error)}`, { cause: error });
  }
}
