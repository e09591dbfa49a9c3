/** A piece of a file that the person sent along with a message. */
import { defineKind } from './kind.ts';

export const attachment = defineKind({
  type: 'attachment',
  version: 1,
  name: 'Pictures and files in messages',
  schema: ({ z, base, id, common: { agentId } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('attachment'),
        agentId: agentId.describe('in whose conversation it was sent'),
        attachmentId: id.describe('the file; messages name it by this'),
        sha256: z.string().describe('of the whole file, in hexadecimal: the same one is kept once in a conversation'),
        bytes: z.number().int().min(0).describe('of the whole file'),
        index: z.number().int().min(0).describe('which piece, from 0'),
        data: z.string().describe('its bytes, in base64'),
      })
      .describe('A piece of a file that the person sent along with a message, of at most 98,304 bytes.'),
  // The first piece stands for the file: it is found by what it holds.
  view: { store: 'records', about: ({ agentId, sha256, index }) => (index === 0 ? `${agentId} ${sha256}` : null) },
  stream: 'attachments',
  whose: 'agent',
  forgotten: 'with-conversation',
  title: () => 'A piece of a picture or file',
});
