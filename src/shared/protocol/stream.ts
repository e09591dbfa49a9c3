/** What the event stream says beside events: of the moment, with no number, and kept nowhere. */
import { z } from 'zod';
import { common, ms } from './documents.ts';
import { LIMITS } from './limits.ts';

const { agentId } = common;
const id = z.string().min(1).max(LIMITS.id);

/**
 * The first thing on every connection, without an id: which log this is. A browser that knew
 * another log (the relay's home was replaced) starts again from the beginning; a client says which
 * log its cursor is of with `?log=`, and the relay sends everything where it is not this one.
 */
export const helloSchema = z.object({
  log: id.describe('names the log; another home has another'),
  version: z.string().describe('the relay’s version'),
  household: id
    .nullable()
    .optional()
    .describe('whose home it is, once a device has proven that; said again where one does while the stream is open'),
});
export type Hello = z.infer<typeof helloSchema>;

/**
 * Sent without an id whenever it changes, and after the snapshot where there is anything of it: who
 * stands in line before the model's server, and what API clients do. The newest holds; nothing of
 * it is kept.
 */
export const waitingSchema = z.object({
  waiting: z
    .array(z.object({ agentId, position: z.number().int().positive().describe('1 is next') }))
    .describe('who waits, in order; empty: nobody'),
  clients: z
    .array(
      z.object({
        agentId: agentId.describe('whose credential it calls with'),
        tool: z.string().nullable().describe('the tool that it calls; null: it asks a model'),
        input: z.record(z.string(), z.string()).describe('beginnings of the texts that went in, by name'),
        since: ms.describe('ms since the epoch, the relay’s clock'),
      }),
    )
    .optional()
    .describe('calls of API clients that are under way, the oldest first; left out: none'),
});
export type Waiting = z.infer<typeof waitingSchema>;

/**
 * Sent without an id whenever it changes, and after the snapshot where it is away. While it is, the
 * relay writes nothing: what is being said is kept in its memory, and comes when it can be written.
 */
export const databaseStandingSchema = z.object({
  away: z.boolean().describe('the relay cannot reach its database'),
});
export type DatabaseStanding = z.infer<typeof databaseStandingSchema>;

/**
 * The last on a connection that the relay ends because of the sign-in that it belongs to, without
 * an id. A relay that is shut down says nothing: the line is only lost.
 */
export const overSchema = z.object({
  reason: z
    .enum(['moved', 'signed-out'])
    .describe(
      'moved: the sign-in belongs to another home of this relay now, whose log the next connection follows; signed-out: it counts no more',
    ),
});
export type Over = z.infer<typeof overSchema>;
