/** The team, its inboxes, and the room that all of it takes. */
import { roomSchema } from '../http.ts';
import { inboxSchema, unreadSchema } from '../inbox.ts';
import { announcedTeamSchema, teamSchema } from '../team.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

export const teamEndpoints = {
  team: endpoint({
    method: 'GET',
    path: '/api/team',
    does: 'Who there is, as a page said last.',
    scopes: ['team'],
    answers: [{ status: 200, when: 'always', body: teamSchema }],
  }),
  putTeam: endpoint({
    method: 'PUT',
    path: '/api/team',
    does: 'Says who there is: names, seats, and who is retired; and who was forgotten for good. Messages are addressed by it. Souls do not travel with it.',
    beginsNothing: true,
    body: announcedTeamSchema,
    answers: [{ status: 204, when: 'kept' }],
  }),
};

export const inboxEndpoints = {
  unread: endpoint({
    method: 'GET',
    path: '/api/inbox',
    does: 'How many messages wait for each agent.',
    answers: [{ status: 200, when: 'always', body: unreadSchema }],
  }),
  inbox: endpoint({
    method: 'GET',
    path: '/api/agents/{agentId}/inbox',
    does: 'What was sent to an agent, newest first, with what it has read, when, and in which run.',
    params: { agentId: named(idText, 'the agent’s id, or "lead"') },
    query: {
      before: optional(named(idText, 'a message id: the page begins after it')),
      limit: wholeNumber(
        { min: 1, max: 200, otherwise: 50 },
        'messages on the page, 1 to 200; 50 where it is left out',
      ),
    },
    answers: [
      { status: 200, when: 'always; an agent nobody wrote to has an empty inbox', body: inboxSchema },
      { status: 400, when: '`limit` does not fit' },
    ],
  }),
};

export const roomEndpoints = {
  room: endpoint({
    method: 'GET',
    path: '/api/room',
    does: 'How much room the relay’s home takes, and how much is left. Some seconds old at most.',
    answers: [{ status: 200, when: 'always', body: roomSchema }],
  }),
};
