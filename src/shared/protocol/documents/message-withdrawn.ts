/** A message of the person's that was taken back before anybody had read it. */
import { defineKind } from './kind.ts';

/** Of one that was queued: one document, whichever device writes it. */
export const queuedWithdrawnId = (clientId: string): string => `message-withdrawn:${clientId}:queued`;

export const messageWithdrawn = defineKind({
  type: 'message-withdrawn',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, id, stamp, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message-withdrawn'),
        agentId: agentId,
        clientId: id,
        of: stamp.optional().describe('its stamp; left out: no relay had taken it'),
        time,
      })
      .describe('A message that waited was taken back before it was read.'),
  view: { store: 'records' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});
