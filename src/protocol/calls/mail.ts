/** Calls of the team and its inboxes. */
import { inboxSchema, unreadSchema } from '../inbox.ts';
import { teamSchema } from '../team.ts';
import type { Call } from './call.ts';

export const MAIL_CALLS: readonly Call[] = [
  {
    method: 'GET',
    path: '/api/team',
    does: 'Who there is, as a page said last.',
    answers: [{ status: 200, when: 'always', body: teamSchema }],
  },
  {
    method: 'PUT',
    path: '/api/team',
    does: 'Says who there is: names, seats, and who is retired. Messages are addressed by it. Souls do not travel with it.',
    body: teamSchema,
    answers: [{ status: 204, when: 'kept' }],
  },
  {
    method: 'GET',
    path: '/api/inbox',
    does: 'How many messages wait for each agent.',
    answers: [{ status: 200, when: 'always', body: unreadSchema }],
  },
  {
    method: 'GET',
    path: '/api/agents/{id}/inbox',
    does: 'What was sent to an agent, newest first, with what it has read, when, and in which run.',
    parameters: [
      { name: 'id', in: 'path', does: 'the agent’s id, or "lead"' },
      { name: 'before', in: 'query', does: 'a message id: the page begins after it' },
      { name: 'limit', in: 'query', does: 'messages on the page, 1 to 200; 50 where it is left out' },
    ],
    answers: [
      { status: 200, when: 'always; an agent nobody wrote to has an empty inbox', body: inboxSchema },
      { status: 400, when: '`limit` does not fit' },
    ],
  },
];
