/** What is to be done in spite of an outage of the database, and not twice. */
import type { Database } from './database-watch.ts';
import { isAway } from './store-error.ts';

/**
 * What `run` gives, once the database can be reached: it is run again however often that goes
 * meanwhile.
 */
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

export interface InDoubt<Done> {
  /** Null: it changed nothing. */
  readonly write: () => Promise<Done | null>;
  /** What a `write` of before has done; null: it is not there. */
  readonly look: () => Promise<Done | null>;
}

/**
 * Writes once, also where the connection breaks before the answer comes. Rejects with
 * `DatabaseAway` only where the database was waited for in vain. A write that a server had taken
 * while it stood still may be done late, after a first look.
 */
export async function writeOnce<Done>({ write, look }: InDoubt<Done>): Promise<Done | null> {
  for (let unsure = false; ;)
    try {
      return (await write()) ?? (unsure ? await look() : null);
    } catch (error) {
      if (!isAway(error) || error.sent === 'not') throw error;
      if (error.sent === 'undone') continue;
      unsure = true;
      const done = await look();
      if (done !== null) return done;
    }
}

/**
 * For what is the same done twice: it is done again where the connection broke, and its answer did
 * not come.
 */
export async function repeated<Done>(write: () => Promise<Done>): Promise<Done> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      if (!isAway(error) || error.sent === 'not') throw error;
    }
}
