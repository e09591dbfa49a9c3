/** When a session began, and when and why it ended. */
import { defineKind } from './kind.ts';

export const session = defineKind({
  type: 'session',
  version: 1,
  name: 'Sessions',
  schema: ({ z, base, endReasonSchema, common: { sessionId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('session'),
        sessionId,
        phase: z.discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('start'), startedAt: time, mind: z.string(), model: z.string() }),
          z.looseObject({ kind: z.literal('end'), endedAt: time, reason: endReasonSchema }),
        ]),
      })
      .describe(
        'A session began, or ended and why: by the person, after a silence, with the relay, or found open after a crash.',
      ),

  view: { store: 'sessions' },
  stream: 'talk',
  whose: 'everybody',
  forgotten: 'with-agent',
});
