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
    does: 'Answers what an agent of this household looks for, as `search` on the event stream asked. The first page that has everything is heard; the answer goes to that agent alone.',
    beginsNothing: true,
    params: { searchId: named(idText, 'as it was asked') },
    body: searchAnsweredSchema,
    answers: [
      { status: 204, when: 'taken' },
      { status: 404, when: '`no-search`: it was never asked of this household, is answered, or was given up' },
    ],
  }),
};

const params = { threadId: named(idText, 'the thread’s id') };
const unknown = { status: 404, when: 'there is no such thread' } as const;
const closed = { status: 409, when: 'it is closed, and takes nothing more' } as const;

export const threadEndpoints = {
  threads: endpoint({
    method: 'GET',
    path: '/api/threads',
    does: 'Every thread, also those that are closed.',
    scopes: ['threads'],
    query: {
      before: optional(named(idText, 'a thread’s id: only those that come after it in this list')),
      limit: wholeNumber({ min: 1, max: 200, otherwise: 100 }, 'how many at most, 1–200; default 100'),
    },
    answers: [{ status: 200, when: 'always', body: threadsSchema }],
  }),
  createThread: endpoint({
    method: 'POST',
    path: '/api/threads',
    does: 'Opens a thread among agents. They are told of it.',
    scopes: ['threads'],
    body: createThreadSchema,
    answers: [
      { status: 201, when: 'it is open', body: threadSchema },
      { status: 400, when: 'one of them is not known, or is retired' },
    ],
  }),
  threadMessages: endpoint({
    method: 'GET',
    path: '/api/threads/{threadId}/messages',
    does: 'What was said in a thread, the newest page first.',
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
    answers: [{ status: 200, when: 'it is there', body: threadMessagesSchema }, unknown],
  }),
  sendToThread: endpoint({
    method: 'POST',
    path: '/api/threads/{threadId}/messages',
    does: 'Says something in a thread, as the person. Those who are mentioned get it in their inbox, and may be woken for it.',
    scopes: ['threads'],
    params,
    body: sendToThreadSchema,
    answers: [
      {
        status: 200,
        when: 'it stands in the thread; for a repeat, the message that was sent first',
        body: threadMessageSchema,
      },
      { status: 400, when: 'one who is mentioned is not in the thread, is retired, or is not known' },
      unknown,
      closed,
    ],
  }),
  addToThread: endpoint({
    method: 'POST',
    path: '/api/threads/{threadId}/participants',
    does: 'Adds an agent to a thread. It may read everything that was said there.',
    scopes: ['threads'],
    params,
    body: addToThreadSchema,
    answers: [
      { status: 200, when: 'it is in it, also where it was before', body: threadSchema },
      { status: 400, when: 'it is not known, or is retired' },
      unknown,
      closed,
      changedElsewhere,
    ],
  }),
  removeFromThread: endpoint({
    method: 'DELETE',
    path: '/api/threads/{threadId}/participants/{agentId}',
    does: 'Takes an agent out of a thread.',
    scopes: ['threads'],
    params: { ...params, agentId: named(idText, 'the agent’s id') },
    answers: [
      { status: 200, when: 'it is in it no more', body: threadSchema },
      { status: 404, when: 'there is no such thread, or it is not in it' },
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
    answers: [{ status: 200, when: 'it is closed', body: threadSchema }, unknown, closed, changedElsewhere],
  }),
};
