import { z } from 'zod';

/** The store cannot be used; the message is one line for the person who started the relay. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/**
 * The engine of the embedded store is gone, with what was not committed; another is opened for the
 * next statement.
 */
export class EngineDied extends Error {
  override name = 'EngineDied';
}

/**
 * What became of a statement. `not`: it was not sent, as the server was waited for in vain.
 * `undone`: the connection broke within its transaction, which has changed nothing. `in-doubt`: it
 * may have been done.
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
/** Postgres' code for a disk that is full. */
const DISK_FULL = '53100';

/**
 * Whether the store lacks the room, an engine that was without it has just been left for another,
 * or the database cannot be reached: a later call goes on by itself. Null where the error is about
 * something else.
 */
export function storeTrouble(error: unknown): 'disk-full' | 'recovering' | 'database-away' | null {
  if (isAway(error)) return 'database-away';
  const sql = sqlErrorSchema.safeParse(error);
  if (sql.success && (sql.data.code === DISK_FULL || sql.data.code === 'ENOSPC')) return 'disk-full';
  if (error instanceof EngineDied)
    return /No space left on device|ENOSPC/.test(error.message) ? 'disk-full' : 'recovering';
  return null;
}

/** Postgres' codes for a character that no text of it can hold: NUL, and halves of a pair. */
const UNSTORABLE = new Set(['22021', '22P05']);

/**
 * Whether a text was to be stored that Postgres has no form for. What is stored whatever it holds
 * is stored as JSON.
 */
export function isUnstorable(error: unknown): boolean {
  const sql = sqlErrorSchema.safeParse(error);
  return sql.success && UNSTORABLE.has(sql.data.code);
}

/**
 * What a system says where nobody listens or a line breaks, and a Postgres server that is being
 * ended or started.
 */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', '57P01', '57P02', '57P03']);
/** What `pg` says of a line that has ended, or was never open, has no code. */
const BROKEN_WORDS =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

/** Whether `pg` rejected because its connection to the server could not be had, or broke. */
export function isBroken(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isBroken);
  const coded = sqlErrorSchema.safeParse(error);
  if (coded.success) return BROKEN.has(coded.data.code);
  return error instanceof Error && BROKEN_WORDS.test(error.message);
}
