import { z } from 'zod';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';

/** The store cannot be used. The message is one line for the person who started the relay. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** A text that the store has no form for. */
export class UnstorableText extends Error {
  override name = 'UnstorableText';
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

const sqlErrorSchema = z.object({ code: z.union([z.string(), z.number()]) });
function codeOf(error: unknown): string | number | null {
  const coded = sqlErrorSchema.safeParse(error);
  return coded.success ? coded.data.code : null;
}

/** Postgres' code for a full disk. */
const DISK_FULL = '53100';

// SQLite's result codes. The lowest byte of an extended code is the primary one.
const PRIMARY = 0xff;
export const SQLITE = {
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;
/** No room for the index of the write-ahead log. */
const SHM_SIZE = SQLITE.ioError | (19 << 8);

const primaryOf = (error: unknown): number | null => {
  const code = codeOf(error);
  return typeof code === 'number' ? code & PRIMARY : null;
};

/**
 * Whether the store has no room, or the database cannot be reached. A later call succeeds by
 * itself. Null for any other error.
 */
export function storeTrouble(error: unknown): 'disk-full' | 'database-away' | null {
  if (isAway(error)) return 'database-away';
  const code = codeOf(error);
  if (code === DISK_FULL || code === 'ENOSPC' || code === SHM_SIZE || primaryOf(error) === SQLITE.full)
    return 'disk-full';
  return null;
}

function remedyFor(error: unknown): string | null {
  switch (primaryOf(error)) {
    case SQLITE.busy:
      return 'Another program has the file open. End it first.';
    case SQLITE.corrupt:
    case SQLITE.notADatabase:
      return 'The file is damaged. Move the folder away and start Roost again: your browser gives it back what it holds of your household.';
    case SQLITE.readOnly:
    case SQLITE.cannotOpen:
      return 'Roost must be allowed to write to the folder and to what is in it.';
    case SQLITE.full:
      return 'The disk is full. Make room on it.';
    default:
      return null;
  }
}

/** What has happened to the store, and what a person can do about it. */
export function explained(error: unknown): string {
  const remedy = remedyFor(error);
  return remedy === null ? errorMessage(error) : `${errorMessage(error)}. ${remedy}`;
}

/** Postgres' codes for a character that its text cannot hold: NUL, and lone surrogates. */
const UNSTORABLE = new Set<string | number | null>(['22021', '22P05']);

/** Whether a text could not be stored. Arbitrary text is stored as JSON. */
export const isUnstorable = (error: unknown): boolean =>
  error instanceof UnstorableText || UNSTORABLE.has(codeOf(error));

/**
 * System errors for a refused or broken connection, and codes of a Postgres server that is stopping
 * or starting.
 */
const BROKEN = new Set<string | number>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
]);
/** Messages of `pg` without a code, for a connection that has ended or was never open. */
const BROKEN_WORDS =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

/** Whether `pg` rejected because its connection to the server failed or broke. */
export function isBroken(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isBroken);
  const code = codeOf(error);
  if (code !== null) return BROKEN.has(code);
  return error instanceof Error && BROKEN_WORDS.test(error.message);
}
