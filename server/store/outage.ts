/** Operations that must complete despite an outage of the database, and must not run twice. */
import type { Database } from './database-watch.ts';
import { isAway } from './store-error.ts';

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
