/**
 * Messages of the event stream besides events. They describe the current moment, have no id, and
 * are not stored.
 */
import { z } from 'zod';
import { common, ms } from './documents.ts';
import { LIMITS } from './limits.ts';

const { agentId } = common;
const id = z.string().min(1).max(LIMITS.id);

/**
 * The first message on every connection, without an id: it identifies the log.
 *
 * A browser that knew another log, because the relay's home was replaced, starts from the
 * beginning. A client names the log of its cursor with `?log=`. If that is another log, the relay
 * sends everything.
 */
export const helloSchema = z.object({
  log: id.describe('identifies the log; another home has another log'),
  version: z.string().describe('the relay’s version'),
  household: id
    .nullable()
    .optional()
    .describe(
      'the household of the relay’s home, once a device has proven it; sent again if a device proves it while the stream is open',
    ),
});
export type Hello = z.infer<typeof helloSchema>;

/**
 * The queue of the model's server, and the calls of API clients. It is sent without an id whenever
 * it changes, and after the snapshot if it is not empty. The newest message replaces earlier ones,
 * and none is stored.
 */
export const waitingSchema = z.object({
  waiting: z
    .array(z.object({ agentId, position: z.number().int().positive().describe('1 is next') }))
    .describe('agents that wait, in order; empty: none'),
  clients: z
    .array(
      z.object({
        agentId: agentId.describe('the credential that the client uses'),
        tool: z.string().nullable().describe('the tool that the client calls; null: it asks a model'),
        input: z.record(z.string(), z.string()).describe('the beginning of each input text, by name'),
        since: ms.describe('ms since the epoch, the relay’s clock'),
      }),
    )
    .optional()
    .describe('calls of API clients under way, oldest first; left out: none'),
});
export type Waiting = z.infer<typeof waitingSchema>;

/**
 * Sent without an id whenever it changes, and after the snapshot if the database is unreachable.
 * Meanwhile the relay writes nothing: it holds what is being said in memory, and sends it when it
 * can be written.
 */
export const databaseStatusSchema = z.object({
  away: z.boolean().describe('the relay cannot reach its database'),
});
export type DatabaseStatus = z.infer<typeof databaseStatusSchema>;

/**
 * The last message on a connection that the relay closes because of its sign-in, without an id. A
 * relay that shuts down sends nothing: the connection is just lost.
 */
export const overSchema = z.object({
  reason: z
    .enum(['moved', 'signed-out'])
    .describe(
      'moved: the sign-in now belongs to another home of this relay, and the next connection follows its log; signed-out: the sign-in is no longer valid',
    ),
});
export type Over = z.infer<typeof overSchema>;
