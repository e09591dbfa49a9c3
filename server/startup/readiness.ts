/**
 * Whether the relay has served: the store answered, the page was rendered, and one event went
 * through a household's log. That is tried once. From then on, only the store can be missing.
 */
import { sql } from 'kysely';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { singleFlight } from '../../src/shared/domain/platform/single-flight.ts';
import type { EventLog } from '../log/index.ts';
import { DATABASE_AWAY } from '../http/database-gate.ts';
import type { Database, Db } from '../store/index.ts';

interface ReadinessDeps {
  readonly db: Db;
  readonly database: Pick<Database, 'awayMs'>;
  /** The page as a browser without a sign-in gets it. */
  readonly page: () => Promise<Response>;
  /** The log of an open household. Undefined: none is open. */
  readonly log: () => Pick<EventLog, 'append' | 'subscribe'> | undefined;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Pages that show notifications fetch them once more. */
async function sendEvent(log: Pick<EventLog, 'append' | 'subscribe'>, now: number): Promise<boolean> {
  const seen = new Set<number>();
  const unsubscribe = log.subscribe(({ id }) => void seen.add(id));
  try {
    const [stored] = await log.append([{ kind: 'changed', time: now, what: 'notifications', agentId: null }]);
    return stored !== undefined && seen.has(stored.id);
  } finally {
    unsubscribe();
  }
}

/** Resolves with what is missing, as a sentence. Null: the relay is ready. */
export function createReadiness({ db, database, page, log, now }: ReadinessDeps): () => Promise<string | null> {
  let hasServed = false;
  async function serve(): Promise<string | null> {
    try {
      await sql`select 1`.execute(db);
    } catch (error) {
      return `The store does not answer: ${errorMessage(error)}`;
    }
    const answer = await page();
    if (!answer.ok || !(await answer.text()).includes('<html')) return 'The page cannot be rendered.';
    const household = log();
    if (!household) return 'No household is open.';
    try {
      if (!(await sendEvent(household, now()))) return 'An event was written to the log, and did not come back.';
    } catch (error) {
      return `The event log takes nothing: ${errorMessage(error)}`;
    }
    hasServed = true;
    return null;
  }
  const serveOnce = singleFlight(serve);
  return async () => {
    if (database.awayMs() !== null) return DATABASE_AWAY;
    return hasServed ? null : await serveOnce();
  };
}
