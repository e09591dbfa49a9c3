/**
 * What a Postgres server does in the background and PGlite, one process without helpers, never:
 * checkpoints, without which the write-ahead log grows for ever, and vacuum, without which the room
 * of rows that were dropped is not used again. Both are done in quiet moments, table by table, so
 * that nobody waits for more than one of them; a checkpoint also under load, where the log has
 * become long.
 */
import type { Engine } from './engine.ts';
import { SCHEMA } from './schema.ts';

const UPKEEP_DEFAULTS = {
  /** ms without a statement that count as quiet. */
  quietMs: 3_000,
  /** Statements that wrote, after which a quiet moment is used. */
  afterWrites: 200,
  /** Bytes of the write-ahead log after which a checkpoint waits for no quiet moment. */
  logBytesMost: 6 * 2 ** 20,
} as const;

export interface UpkeepDeps {
  /** Runs with the engine to itself; nothing of it needs to be waited for on disk. */
  readonly alone: <T>(run: (engine: Engine) => Promise<T>) => Promise<T>;
  readonly settings?: Partial<Record<keyof typeof UPKEEP_DEFAULTS, number>>;
}

export interface Upkeep {
  /**
   * After every statement or transaction, with what the engine has put into its log since the last
   * checkpoint.
   */
  noticed(wrote: boolean, logBytes: number): void;
  /** All of it, now. Rejects where the store fails. */
  run(): Promise<void>;
  close(): Promise<void>;
}

export function createUpkeep({ alone, settings = {} }: UpkeepDeps): Upkeep {
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
