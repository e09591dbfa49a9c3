/**
 * Runs: an agent at work, once, whatever started it. These schemas are shared by its events and
 * documents.
 */
import { z } from 'zod';

export const runCauseSchema = z
  .discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('session') }).describe('the agent has its seat in a session'),
    z
      .looseObject({
        kind: z.literal('wake'),
        by: z.string().describe('"human", an agent’s id, or an application’s name'),
        reason: z.string().nullable(),
      })
      .describe('somebody woke the agent'),
    z
      .looseObject({ kind: z.literal('pulse'), routine: z.string().describe('the routine’s name') })
      .describe('a routine of the agent was due'),
    z
      .looseObject({
        kind: z.literal('reminder'),
        name: z.string().describe('id of the message that the agent left for itself'),
      })
      .describe('a reminder of the agent was due'),
    z
      .looseObject({ kind: z.literal('script'), name: z.string(), status: z.string().describe('how the script ended') })
      .describe('a script of the agent failed'),
    z
      .looseObject({ kind: z.literal('executor'), projectId: z.string(), taskId: z.string() })
      .describe('the agent has a task executed from a brief'),
    z.looseObject({ kind: z.literal('dream') }).describe('the agent tidies a draft of its memory'),
  ])
  .describe('What started a run.');
export type RunCause = z.infer<typeof runCauseSchema>;

const runOutcomeSchema = z
  .enum(['done', 'failed', 'stopped', 'timed-out', 'crashed'])
  .describe(
    'done: the run completed; failed: its mind refused or returned an error; stopped: by the person, or with the relay; timed-out: it took too long, or made as many requests as it may; crashed: the relay died',
  );
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

/** How a run ended, in its event and its document. `usage` is null if no model reported any. */
export const runEnd = {
  outcome: runOutcomeSchema,
  reason: z.string().nullable().describe('the reason, as a sentence for people; null: none'),
  costMicroUsd: z.number().int().nonnegative().describe('cost of the run’s requests, in millionths of a dollar'),
  estimated: z.boolean().describe('the cost is an upper bound: some usage was not reported, or a price is a guess'),
};
