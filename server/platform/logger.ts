/**
 * The relay's log, a small file in the home. It records events of the relay. It never contains what
 * anyone said, or keys, at any level.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import type { KeyFilter } from './key-filter.ts';

/** Most bytes of each of two files, the current one and the one before. */
const MOST_BYTES = 1_000_000;
/** Longest single entry, in characters. */
const MOST_ENTRY = 8_000;

type LogFields = Readonly<Record<string, unknown>>;

/** Most detailed first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `message` is a fixed sentence; values go into `fields`, an error as `error`. */
export interface Logger {
  /** Details for developers of Roost: kinds, ids, counts and times. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LoggerDeps {
  readonly folder: string;
  readonly now: () => Date;
  /**
   * Entries below this level are not written. At `debug`, every entry also goes to the terminal.
   */
  readonly level: LogLevel;
  /** Prints a line to the terminal if an entry could not be written, with the reason. */
  readonly tell: (line: string) => void;
  /** Removes what no log may contain. */
  readonly filter?: Pick<KeyFilter, 'part'>;
}

/** A failed write does not stop the relay. */
export function createLogger({ folder, now, level, tell, filter }: LoggerDeps): Logger {
  const file = join(folder, 'relay.log');
  let size: number | null = null;
  /** Cuts a text for the log. A server may have written megabytes into an error. */
  const shown = (text: string) => filter?.part(text, 0, MOST_ENTRY) ?? text.slice(0, MOST_ENTRY);

  /**
   * An error with its stack and its cause, a text of at most one entry, everything else unchanged.
   */
  function plain(_key: string, value: unknown): unknown {
    if (typeof value === 'string') return shown(value);
    if (!(value instanceof Error)) return value;
    return { stack: value.stack ?? value.message, ...(value.cause === undefined ? {} : { cause: value.cause }) };
  }

  function write(of: LogLevel, message: string, fields?: LogFields): void {
    const whole = `${now().toISOString()} ${of} ${message}${fields ? ` ${JSON.stringify(fields, plain)}` : ''}`;
    const excess = whole.length - MOST_ENTRY;
    const entry = excess > 0 ? `${shown(whole)} … ${excess} characters more` : shown(whole);
    if (level === 'debug') tell(entry);
    try {
      size ??= statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (size + entry.length > MOST_BYTES) {
        renameSync(file, `${file}.old`);
        size = 0;
      }
      appendFileSync(file, `${entry}\n`, { mode: 0o600 });
      size += Buffer.byteLength(entry) + 1;
    } catch (error) {
      tell(`${entry} (the log cannot be written: ${errorMessage(error)})`);
    }
  }
  const from = (of: LogLevel): Logger['info'] =>
    LOG_LEVELS.indexOf(of) < LOG_LEVELS.indexOf(level)
      ? () => undefined
      : (message, fields) => write(of, message, fields);
  return { debug: from('debug'), info: from('info'), warn: from('warn'), error: from('error') };
}
