/** An agent at work alone, in no session: when and by what it began, and how it ended. */
import { defineKind } from './kind.ts';

export const run = defineKind({
  type: 'run',
  version: 1,
  name: 'Runs',
  schema: ({ z, base, runCauseSchema, runEnd, usageSchema, common: { agentId, runId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('run'),
        runId,
        agentId,
        phase: z.discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('start'), startedAt: time, cause: runCauseSchema }),
          z.looseObject({ kind: z.literal('end'), endedAt: time, ...runEnd, usage: usageSchema.nullable() }),
        ]),
      })
      .describe('An agent began to work alone, in no session, or came to an end, and how.'),

  view: { store: 'records' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});
