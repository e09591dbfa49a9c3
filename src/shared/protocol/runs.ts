/**
 * Runs: an agent at work, once, whatever started it. These schemas are shared by its events and
 * documents.
 */
import { z } from 'zod';

export const runCauseSchema = z
  .discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('session') }).describe('it has its seat in a session'),
    z
      .looseObject({
        kind: z.literal('wake'),
        by: z.string().describe('"human", an agent’s id, or the name of an application'),
        reason: z.string().nullable(),
      })
      .describe('somebody woke it'),
    z
      .looseObject({ kind: z.literal('pulse'), routine: z.string().describe('the routine’s name') })
      .describe('one of its routines was due'),
    z
      .looseObject({ kind: z.literal('reminder'), name: z.string().describe('of the message it left for itself') })
      .describe('a reminder of its own was due'),
    z
      .looseObject({ kind: z.literal('script'), name: z.string(), status: z.string().describe('how it ended') })
      .describe('a script failed'),
  ])
  .describe('What set an agent to work.');
export type RunCause = z.infer<typeof runCauseSchema>;

const runOutcomeSchema = z
  .enum(['done', 'failed', 'stopped', 'timed-out', 'crashed'])
  .describe(
    'done: it came to its end; failed: its mind refused or erred; stopped: by the person, or with the relay; timed-out: it took too long, or made as many requests as it may; crashed: the relay died',
  );
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

/** How a run ended, in its event and its document. `usage` is null if no model reported any. */
export const runEnd = {
  outcome: runOutcomeSchema,
  reason: z.string().nullable().describe('why, a sentence for people; null: there is nothing to say'),
  costMicroUsd: z.number().int().nonnegative().describe('what its requests cost, in millionths of a dollar'),
  estimated: z
    .boolean()
    .describe('some of that is at the most: not all of what they took was told, or its price is a guess'),
};
