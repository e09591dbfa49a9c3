/**
 * Threads: agents, and the person, talking among several. See `Threads` in types.ts.
 *
 * Everything is in the store; what is in memory is who waits. Messages have places from 1, given out under a lock on their
 * thread's row, so two processes that write at once cannot give one twice.
 */
import { createThreadsContext, type ThreadsDeps } from './context.ts';
import type { RecordSource } from '../records/index.ts';
import { createMembership } from './membership.ts';
import { createReading } from './reading.ts';
import { createThreadRecords } from './records.ts';
import { createSending } from './sending.ts';
import { createAnnouncer } from './announcer.ts';
import type { Threads } from './types.ts';
import { createWaiting } from './waiting.ts';

export type { ThreadsDeps } from './context.ts';
export { createThreadRoutes } from './routes.ts';
export { createThreadTools } from './tools.ts';
export type { Threads } from './types.ts';

/** With the rows that are records. */
export interface OpenThreads extends Threads {
  readonly records: RecordSource;
}

export function createThreads(deps: ThreadsDeps): OpenThreads {
  const context = createThreadsContext(deps);
  const announcer = createAnnouncer(context);
  const reading = createReading(context);
  const { list, read } = reading;
  return {
    ...createMembership(context, announcer),
    ...createSending(context, announcer),
    ...createWaiting(context, reading),
    list,
    read,
    records: createThreadRecords(context),
    recover: () => context.inTurn(() => announcer.all()),
  };
}
