/** What a person wrote while nothing could take it. */
import { defineKind } from './kind.ts';

export const queuedMessage = defineKind({
  type: 'queued-message',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, id, attachmentsSchema, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('queued-message'),
        clientId: id.describe('the `clientId` it will be posted with, so that posting it twice is harmless'),
        agentId,
        text: z.string(),
        attachments: attachmentsSchema.optional(),
        time,
      })
      .describe('What a person wrote to an agent while nothing could take it; posted when a session starts.'),

  view: { store: 'queued' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});
