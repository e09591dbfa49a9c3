import { z } from 'zod';

/** The store cannot be used; the message is one line for the person who started the relay. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The engine of the embedded store is gone, with what was not committed; another is opened for the next statement. */
export class EngineDied extends Error {
  override name = 'EngineDied';
}

const sqlErrorSchema = z.object({ code: z.string() });
/** Postgres' code for a disk that is full. */
const DISK_FULL = '53100';

/**
 * Whether the store lacks the room, or an engine that was without it has just been left for another: the next call
 * goes on by itself once there is room. Null where the error is about something else.
 */
export function storeTrouble(error: unknown): 'disk-full' | 'recovering' | null {
  const sql = sqlErrorSchema.safeParse(error);
  if (sql.success && (sql.data.code === DISK_FULL || sql.data.code === 'ENOSPC')) return 'disk-full';
  if (error instanceof EngineDied)
    return /No space left on device|ENOSPC/.test(error.message) ? 'disk-full' : 'recovering';
  return null;
}

/** What a system says where nobody listens or a line breaks, and a Postgres server that is being ended or started. */
const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', '57P01', '57P02', '57P03']);

/** Whether no connection to a Postgres server could be had because it is away for now. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isAway);
  const coded = sqlErrorSchema.safeParse(error);
  if (coded.success) return AWAY.has(coded.data.code);
  // What `pg` says of a line that ended before it was let in has no code.
  return error instanceof Error && /^Connection terminated/.test(error.message);
}
