/** What was said, by whom, in whose conversation. */
import { defineKind } from './kind.ts';

export const message = defineKind({
  type: 'message',
  version: 1,
  name: 'Messages',
  schema: ({
    z,
    base,
    authorSchema,
    blockSchema,
    usageSchema,
    attachmentsSchema,
    messageStatusSchema,
    stamp,
    common: { agentId, sessionId, runId, messageId, time },
  }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message'),
        messageId,
        sessionId: sessionId.nullable().describe('null: it was said in a run that was in no session'),
        runId: runId.optional().describe('the run in which it was said or read; left out: in none'),
        agentId: agentId.describe('whose conversation: "lead" or an agent id'),
        author: authorSchema.describe('"human", "relay", "lead" or an agent id'),
        role: z.enum(['user', 'assistant']).describe('as the model is told it'),
        blocks: z.array(blockSchema),
        attachments: attachmentsSchema.optional().describe('pictures and files that the person sent with it'),
        status: messageStatusSchema,
        error: z.string().nullable().describe('a sentence for people, where it failed'),
        usage: usageSchema.nullable().describe('null: the model did not say, or none was asked'),
        time,
        clientId: z.string().nullable().describe('the page’s own id of a message that the person wrote'),
        replaces: z
          .string()
          .nullable()
          .describe(
            'edit-and-resend, or retry: the message with this id, and all after it in the conversation, are hidden',
          ),
        unasked: z
          .literal(true)
          .optional()
          .describe(
            'an answer to nothing that the person said: a greeting, or to what others wrote. It is not new to the person, unless it failed',
          ),
        completedAt: stamp
          .optional()
          .describe(
            'of an answer, which is dated by its beginning: when it was whole. Until then nobody has read all of it',
          ),
      })
      .describe(
        'A whole message, the person’s or an agent’s. `waiting: true` is added where it waits in the inbox of an agent that sleeps.',
      ),

  view: { store: 'messages' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});
