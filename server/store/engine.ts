/**
 * One PGlite on its folder: SQL in, rows out, nothing answered before it is on disk.
 *
 * A statement is prepared once and then costs one call into Postgres instead of six. An engine can
 * die: Postgres gives up where its log cannot be written, and so does WebAssembly where it runs out
 * of memory. PGlite swallows that and answers with nothing; here it is noticed, said, and the
 * engine never touched again.
 */
import { PGlite, protocol, types } from '@electric-sql/pglite';
import { z } from 'zod';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { createDurableFiles } from './durable-files.ts';
import { EngineDied } from './store-error.ts';

/**
 * What Postgres is started with: PGlite's own list without `-F`, which means that nothing is
 * flushed.
 */
const START = PGlite.defaultStartParams.filter((param) => param !== '-F');

const SETTINGS = [
  // Postgres' default of 128 MB is for servers; the relay's working set is a few megabytes.
  'shared_buffers=16MB',
  'max_connections=4',
  // Emscripten has no fdatasync; durable-files.ts chooses what an fsync becomes.
  'wal_sync_method=fsync',
  // A plan that was made for an empty table would be kept when it is full.
  'plan_cache_mode=force_custom_plan',
  'min_wal_size=2MB',
  'max_wal_size=8MB',
];

/**
 * Postgres' way to leave a statement that failed; everything else that comes out of it is its end.
 */
const FAILED_STATEMENT = 100;
const exitSchema = z.object({ status: z.number() });

/**
 * Statements kept prepared; the relay has a few hundred, and lists of changing length make more.
 */
const PREPARED_MOST = 500;
/** Only these are prepared; the others are rare and may change what a prepared one means. */
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i;
const HARMLESS = /^\s*(begin|commit|rollback|savepoint|release|checkpoint|vacuum|analyze)\b/i;

const CHECKPOINT = /^\s*checkpoint\b/i;

export interface Rows {
  readonly rows: Record<string, unknown>[];
  readonly affectedRows: number | undefined;
  readonly command: string | undefined;
}

export interface Engine {
  /**
   * Runs one statement. Callers keep to one at a time. Rejects with `EngineDied` where it is gone.
   */
  run(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  /** Resolves when everything that was run so far is on disk. */
  flushed(): Promise<void>;
  dead(): EngineDied | null;
  /** Bytes of the write-ahead log since the last checkpoint, about. */
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
 * PGlite’s own ways take a microsecond for each byte, and everybody waits: seconds for a picture.
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
      // PGlite goes on after any error, first of all with these.
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
        // What PGlite says after its engine has died is about the ruins.
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
