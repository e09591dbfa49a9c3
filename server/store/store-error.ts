import { z } from 'zod';

/** The store cannot be used. The message is one line for the person who started the relay. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/**
 * The engine of the embedded store is gone, with everything that was not committed. The next
 * statement opens another one.
 */
export class EngineDied extends Error {
  override name = 'EngineDied';
}

/**
 * What became of a statement. `not`: it was not sent, after waiting for the server in vain.
 * `undone`: the connection broke within its transaction, which has changed nothing. `in-doubt`: it
 * may have been carried out.
 */
type Sent = 'not' | 'undone' | 'in-doubt';

/** The Postgres server cannot be reached. */
export class DatabaseAway extends Error {
  override name = 'DatabaseAway';
  readonly sent: Sent;

  constructor(sent: Sent, options?: ErrorOptions) {
    super('The database cannot be reached.', options);
    this.sent = sent;
  }
}

export const isAway = (error: unknown): error is DatabaseAway => error instanceof DatabaseAway;

const sqlErrorSchema = z.object({ code: z.string() });
/** Postgres' code for a full disk. */
const DISK_FULL = '53100';

/**
 * Whether the store has no room, an engine without room was just replaced, or the database cannot
 * be reached. A later call succeeds by itself. Null for any other error.
 */
export function storeTrouble(error: unknown): 'disk-full' | 'recovering' | 'database-away' | null {
  if (isAway(error)) return 'database-away';
  const sql = sqlErrorSchema.safeParse(error);
  if (sql.success && (sql.data.code === DISK_FULL || sql.data.code === 'ENOSPC')) return 'disk-full';
  if (error instanceof EngineDied)
    return /No space left on device|ENOSPC/.test(error.message) ? 'disk-full' : 'recovering';
  return null;
}

/** Postgres' codes for a character that its text cannot hold: NUL, and lone surrogates. */
const UNSTORABLE = new Set(['22021', '22P05']);

/**
 * Whether a text could not be stored because Postgres has no form for it. Arbitrary text is stored
 * as JSON.
 */
export function isUnstorable(error: unknown): boolean {
  const sql = sqlErrorSchema.safeParse(error);
  return sql.success && UNSTORABLE.has(sql.data.code);
}

/**
 * System errors for a refused or broken connection, and codes of a Postgres server that is stopping
 * or starting.
 */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', '57P01', '57P02', '57P03']);
/** Messages of `pg` without a code, for a connection that has ended or was never open. */
const BROKEN_WORDS =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

/** Whether `pg` rejected because its connection to the server failed or broke. */
export function isBroken(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isBroken);
  const coded = sqlErrorSchema.safeParse(error);
  if (coded.success) return BROKEN.has(coded.data.code);
  return error instanceof Error && BROKEN_WORDS.test(error.message);
}
