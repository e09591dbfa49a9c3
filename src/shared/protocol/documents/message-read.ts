/** A message that waited was put before its agent. */
import { defineKind } from './kind.ts';

export const messageRead = defineKind({
  type: 'message-read',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, common: { agentId, sessionId, runId, messageId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message-read'),
        messageId,
        agentId,
        sessionId: sessionId.nullable().describe('null: it was read in a run that was in no session'),
        runId: runId.optional(),
        time,
      })
      .describe('A message that waited in an inbox was put before its agent.'),

  view: { store: 'reads' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});
