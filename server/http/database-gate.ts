/**
 * Calls while the database is unreachable. A new call that needs it gets a 503 at once, with a time
 * to retry. A running call is refused too, but its work goes on and completes when the database is
 * back. Streams and answers of other protocols that have begun are left alone.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import { databaseAwayPage, wantsPage } from './pages.ts';
import type { Env } from './endpoint.ts';
import { problemResponse, RETRY_AFTER } from './problem.ts';
import type { Database } from '../store/index.ts';

/** Also part of `GET /health`. */
export const DATABASE_AWAY = 'The relay cannot reach its database; what is being said is kept until it can.';
const REFUSED = `${DATABASE_AWAY} Try again in a moment.`;
const UNDER_WAY = `${DATABASE_AWAY} Your request may have been carried out: check before you repeat it.`;

const STORELESS: ReadonlySet<string> = new Set(
  Object.values<Endpoint>(ENDPOINTS).flatMap(({ storeless, path, aliases = [] }) =>
    storeless ? [path, ...aliases] : [],
  ),
);

const refuse = (context: Context<Env>, detail: string): Response =>
  wantsPage(context)
    ? databaseAwayPage(RETRY_AFTER)
    : problemResponse(503, 'database-away', detail, { headers: RETRY_AFTER });

type Watched = Pick<Database, 'state' | 'subscribe'>;

/**
 * The result of `work`, or null where the database becomes unreachable first. The work itself goes
 * on.
 */
export async function unlessAway<Value>(
  database: Watched,
  work: Promise<Value>,
  holds = () => true,
): Promise<Value | null> {
  let stop: () => void = () => undefined;
  const away = new Promise<null>((resolve) => {
    const check = () => {
      if (database.state().kind !== 'there' && holds()) resolve(null);
    };
    stop = database.subscribe(check);
    check();
  });
  try {
    return await Promise.race([work, away]);
  } finally {
    stop();
  }
}

export function createDatabaseGate(database: Watched): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (STORELESS.has(context.req.path)) return await next();
    if (database.state().kind !== 'there') return refuse(context, REFUSED);
    const answered = next().then(() => true);
    const isOpen = () => context.get('raw') !== true;
    return (await unlessAway(database, answered, isOpen)) ? undefined : refuse(context, UNDER_WAY);
  };
}
