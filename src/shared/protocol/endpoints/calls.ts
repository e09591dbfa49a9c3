/** The activity of agents: their tool calls, and calls that wait for the person's answer. */
import { z } from 'zod';
import { answerSchema, commandReachSchema, sandboxSchema, toolCallSchema } from '../calls.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

/** Calls on one page of the activity. */
const CALL_PAGE = { min: 1, max: 200, otherwise: 50 } as const;
const browsersOnly = { status: 403, when: 'it is no browser that asks' } as const;

export const callEndpoints = {
  calls: endpoint({
    method: 'GET',
    path: '/api/calls',
    does: 'Every call of a tool, newest first: kept for 90 days.',
    query: {
      before: optional(named(idText, 'the `callId` that the page before ended with')),
      limit: wholeNumber(
        CALL_PAGE,
        `at most so many: ${CALL_PAGE.min}–${CALL_PAGE.max}, otherwise ${CALL_PAGE.otherwise}`,
      ),
      agent: optional(named(idText, 'only calls of this agent')),
    },
    answers: [
      { status: 200, when: 'always', body: z.object({ calls: z.array(toolCallSchema), more: z.boolean() }) },
      { status: 400, when: '`limit` does not fit' },
      browsersOnly,
    ],
  }),
  approvals: endpoint({
    method: 'GET',
    path: '/api/approvals',
    does: 'Calls that wait for the person, with their whole input, and whether commands can be run here.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          waiting: z.array(toolCallSchema).describe('the oldest first'),
          answered: z
            .array(toolCallSchema)
            .describe('those of the last day that are over, newest first, at most 50; `GET /api/calls` has all'),
          sandbox: sandboxSchema,
          reach: z
            .record(idText, commandReachSchema)
            .optional()
            .describe('by agent: how far a command goes that waits'),
          ownHosts: z
            .boolean()
            .optional()
            .describe('with a yes to a script the person may name hosts of the relay’s own machine and networks'),
        }),
      },
      browsersOnly,
    ],
  }),
  answerApproval: endpoint({
    method: 'POST',
    path: '/api/approvals/{callId}/answer',
    does: 'Answers one. A yes is on disk before anything runs, and what it asks for is run once at most.',
    params: { callId: named(idText, 'the call’s id') },
    body: answerSchema,
    answers: [
      { status: 200, when: 'it is answered', body: toolCallSchema },
      { status: 400, when: 'something does not fit; `errors` names each field' },
      { status: 404, when: 'there is no such call' },
      {
        status: 409,
        when: 'it was answered or withdrawn before, and `detail` says which; or something else lies by now where it is about (`changed`): then it still waits, and shows that',
      },
      browsersOnly,
    ],
  }),
};
