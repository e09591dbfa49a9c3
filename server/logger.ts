/** The relay's log: a small file in the home. It holds what happened to the relay; never what anyone said, and no keys. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Two files of at most this many bytes: the one that is written and the one before. */
const MOST_BYTES = 1_000_000;
/** Longest single entry, in characters. */
const MOST_ENTRY = 8_000;

export type LogFields = Readonly<Record<string, unknown>>;

/** `message` is a fixed sentence; values go into `fields`, an error as `error`. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** An error with its stack and what caused it; everything else as it is. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { stack: value.stack ?? value.message, ...(value.cause === undefined ? {} : { cause: value.cause }) };
}

/** Writes to `folder`. `clean` takes out what no log may hold. Where writing fails, the entry and the reason go to `fallback`, and the relay goes on. */
export function createLogger(
  folder: string,
  now: () => Date,
  fallback: (line: string) => void,
  clean: (text: string) => string = (text) => text,
): Logger {
  const file = join(folder, 'relay.log');
  let size: number | null = null;
  const write = (level: string) => (message: string, fields?: LogFields) => {
    const entry = clean(
      `${now().toISOString()} ${level} ${message}${fields ? ` ${JSON.stringify(fields, plain)}` : ''}`,
    ).slice(0, MOST_ENTRY);
    try {
      size ??= statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (size + entry.length > MOST_BYTES) {
        renameSync(file, `${file}.old`);
        size = 0;
      }
      appendFileSync(file, `${entry}\n`, { mode: 0o600 });
      size += Buffer.byteLength(entry) + 1;
    } catch (error) {
      fallback(`${entry} (the log cannot be written: ${error instanceof Error ? error.message : String(error)})`);
    }
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
