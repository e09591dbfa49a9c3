/** The activity of agents: their tool calls, and calls that wait for the person's answer. */
import { z } from 'zod';
import { answerSchema, commandReachSchema, sandboxSchema, toolCallSchema } from '../approvals.ts';
import { browsersOnly, endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

/** Calls on one page of the activity. */
const CALL_PAGE = { min: 1, max: 200, otherwise: 50 } as const;

export const approvalEndpoints = {
  calls: endpoint({
    method: 'GET',
    path: '/api/calls',
    does: 'All tool calls, newest first. The relay stores them for 90 days.',
    query: {
      before: optional(named(idText, 'the last `callId` of the page before')),
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
    does: 'Calls that wait for the person, with their whole input, and whether commands can run here.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          waiting: z.array(toolCallSchema).describe('oldest first'),
          answered: z
            .array(toolCallSchema)
            .describe('calls of the last day that have ended, newest first, at most 50; `GET /api/calls` has all'),
          sandbox: sandboxSchema,
          reach: z.record(idText, commandReachSchema).optional().describe('by agent: what a waiting command may reach'),
          projects: z
            .record(idText, idText)
            .optional()
            .describe('by agent: the project of its task, whose setting has a waiting command ask the person'),
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
    does: 'Answers a waiting call. A yes is on disk before the call runs, and the call runs at most once.',
    params: { callId: named(idText, 'the call’s id') },
    body: answerSchema,
    answers: [
      { status: 200, when: 'the answer is stored', body: toolCallSchema },
      { status: 400, when: 'something does not fit; `errors` names each field' },
      { status: 404, when: 'there is no such call' },
      {
        status: 409,
        when: 'the call was answered or withdrawn before, and `detail` says which; or the files that it is about have changed (`changed`), and the call still waits and shows their new content',
      },
      browsersOnly,
    ],
  }),
};
