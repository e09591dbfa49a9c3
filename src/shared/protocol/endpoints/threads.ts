/** Threads: the person's own calls. Agents have tools for the same. */
import { searchAnsweredSchema } from '../search.ts';
import {
  addToThreadSchema,
  closeThreadSchema,
  createThreadSchema,
  sendToThreadSchema,
  threadMessageSchema,
  threadMessagesSchema,
  threadSchema,
  threadsSchema,
} from '../threads.ts';
import { changedElsewhere } from '../version.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

/** Searches of agents, answered by a page. */
export const searchEndpoints = {
  answerSearch: endpoint({
    method: 'POST',
    path: '/api/searches/{searchId}',
    does: 'Answers an agent’s search, which the relay sent as `search` on the event stream. The relay takes the first complete answer, and gives it to that agent only.',
    beginsNothing: true,
    params: { searchId: named(idText, 'the search’s id') },
    body: searchAnsweredSchema,
    answers: [
      { status: 204, when: 'accepted' },
      {
        status: 404,
        when: '`no-search`: this household was not asked this, or the search was answered or has timed out',
      },
    ],
  }),
};

const params = { threadId: named(idText, 'the thread’s id') };
const unknown = { status: 404, when: 'there is no such thread' } as const;
const closed = { status: 409, when: 'the thread is closed, and accepts no messages' } as const;

export const threadEndpoints = {
  threads: endpoint({
    method: 'GET',
    path: '/api/threads',
    does: 'All threads, also closed ones.',
    scopes: ['threads'],
    query: {
      before: optional(named(idText, 'a thread’s id: only threads after it in this list')),
      limit: wholeNumber({ min: 1, max: 200, otherwise: 100 }, 'how many at most, 1–200; default 100'),
    },
    answers: [{ status: 200, when: 'always', body: threadsSchema }],
  }),
  createThread: endpoint({
    method: 'POST',
    path: '/api/threads',
    does: 'Opens a thread among agents, and announces it to them.',
    scopes: ['threads'],
    body: createThreadSchema,
    answers: [
      { status: 201, when: 'open', body: threadSchema },
      { status: 400, when: 'an agent is not known, or is retired' },
    ],
  }),
  threadMessages: endpoint({
    method: 'GET',
    path: '/api/threads/{threadId}/messages',
    does: 'The messages of a thread, the newest page first.',
    scopes: ['threads'],
    params,
    query: {
      before: optional(
        wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER, otherwise: 1 }, 'only what stands before this place'),
      ),
      limit: wholeNumber(
        { min: 1, max: 200, otherwise: 50 },
        'how many at most, 1–200; default 50. Long ones make a page shorter',
      ),
    },
    answers: [{ status: 200, when: 'the messages', body: threadMessagesSchema }, unknown],
  }),
  sendToThread: endpoint({
    method: 'POST',
    path: '/api/threads/{threadId}/messages',
    does: 'Posts a message of the person to a thread. Mentioned agents get it in their inbox, and may be woken for it.',
    scopes: ['threads'],
    params,
    body: sendToThreadSchema,
    answers: [
      {
        status: 200,
        when: 'posted; for a repeat, the message that was posted first',
        body: threadMessageSchema,
      },
      { status: 400, when: 'a mentioned agent is not in the thread, is retired, or is not known' },
      unknown,
      closed,
    ],
  }),
  addToThread: endpoint({
    method: 'POST',
    path: '/api/threads/{threadId}/participants',
    does: 'Adds an agent to a thread. It may read all earlier messages.',
    scopes: ['threads'],
    params,
    body: addToThreadSchema,
    answers: [
      { status: 200, when: 'the agent is in the thread; also answered to a repeat', body: threadSchema },
      { status: 400, when: 'the agent is not known, or is retired' },
      unknown,
      closed,
      changedElsewhere,
    ],
  }),
  removeFromThread: endpoint({
    method: 'DELETE',
    path: '/api/threads/{threadId}/participants/{agentId}',
    does: 'Removes an agent from a thread.',
    scopes: ['threads'],
    params: { ...params, agentId: named(idText, 'the agent’s id') },
    answers: [
      { status: 200, when: 'removed', body: threadSchema },
      { status: 404, when: 'there is no such thread, or the agent is not in it' },
      closed,
    ],
  }),
  closeThread: endpoint({
    method: 'POST',
    path: '/api/threads/{threadId}/close',
    does: 'Closes a thread for good, with a summary.',
    scopes: ['threads'],
    params,
    body: closeThreadSchema,
    answers: [{ status: 200, when: 'closed', body: threadSchema }, unknown, closed, changedElsewhere],
  }),
};
