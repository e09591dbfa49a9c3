/** The team, its inboxes, and the relay's disk usage. */
import { announcedTeamSchema, sleepingSchema, teamSchema } from '../team.ts';
import {
  agentConfigAnswerSchema,
  householdConfigAnswerSchema,
  setAgentConfigSchema,
  setHouseholdConfigSchema,
} from '../config.ts';
import { changedElsewhere } from '../version.ts';
import { WAKE_PAGE, wakeFeedSchema, wakeStatsSchema } from '../wakes.ts';
import { LIMITS } from '../limits.ts';
import {
  answerAskedSchema,
  askedOutcomesSchema,
  askedRecordsSchema,
  comparedRecordsSchema,
  compareRecordsSchema,
  offeredRecordsSchema,
  offerRecordsSchema,
} from '../records.ts';
import { roomSchema } from '../http.ts';
import { inboxSchema, unreadSchema } from '../threads.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

// The sleeping flag.

const path = '/api/v1/sessions/{sessionId}/{agentId}/sleeping';
const access = 'client';
const params = {
  sessionId: named(idText, 'the running session; `current` will do'),
  agentId: named(idText, 'the agent’s id, name or seat'),
};
const unknown = { status: 404, when: 'no such session runs, or the agent is not in it' } as const;
const forbidden = {
  status: 403,
  when: 'the credential is of an agent that may not do this to others, or of an application without that scope',
} as const;
const aliases = ['/sessions/{sessionId}/{agentId}/sleeping'] as const;
const set = {
  path,
  aliases,
  access,
  scopes: ['sleep', 'wake'],
  params,
  body: sleepingSchema,
  answers: [
    { status: 200, when: 'it is so, also where it was so before', body: sleepingSchema },
    forbidden,
    unknown,
    {
      status: 409,
      when: 'the lead is to be set to sleep, or the gate did not let it be woken; `detail` says why. The person is never refused',
    },
  ],
} as const;

export const pauseEndpoints = {
  sleeping: endpoint({
    method: 'GET',
    path,
    aliases,
    does: 'Whether an agent of the running session is set to sleep. A credential will do, as a Bearer token: the agent’s own, that of an agent which may put others to sleep, or an application’s.',
    access,
    scopes: ['read', 'sleep', 'wake'],
    params,
    answers: [{ status: 200, when: 'it is in the session', body: sleepingSchema }, forbidden, unknown],
  }),
  putSleeping: endpoint({
    ...set,
    method: 'PUT',
    does: 'Sets an agent of the running session to sleep, or wakes it. What it asks for while it sleeps waits, and goes on when it is woken. A credential will do, as for reading; an application needs `sleep` for the one and `wake` for the other.',
  }),
  postSleeping: endpoint({ ...set, method: 'POST', does: 'The same as `PUT`, so that plain tools can call it.' }),
};

// Wakes and their limits.

const wakeParams = { agentId: named(idText, 'the agent’s id, name or seat') };
const accept = {
  Accept:
    '`application/yaml`: what holds, as YAML to copy out, with a mark on each line that was set here; otherwise JSON',
};
const contentType = { 'Content-Type': '`application/json` or `application/yaml`' };
const unknownAgent = { status: 404, when: 'no such agent' } as const;
const misfits = [
  { status: 400, when: 'something does not fit; `errors` names each field' },
  { status: 413, when: 'too large' },
  { status: 415, when: 'neither JSON nor YAML' },
] as const;

export const wakeEndpoints = {
  wakes: endpoint({
    method: 'GET',
    path: '/api/wakes',
    does: 'What the gate decided, newest first.',
    query: {
      before: optional(named(idText, 'the `decisionId` that the page before ended with')),
      limit: wholeNumber(
        WAKE_PAGE,
        `at most so many: ${WAKE_PAGE.min}–${WAKE_PAGE.max}, otherwise ${WAKE_PAGE.otherwise}`,
      ),
      agent: optional(named(idText, 'only wakes of this agent')),
    },
    answers: [
      { status: 200, when: 'always', body: wakeFeedSchema },
      { status: 400, when: '`limit` does not fit' },
    ],
  }),
  wakeStats: endpoint({
    method: 'GET',
    path: '/v1/agents/{agentId}/wake-stats',
    does: 'How much of its limits an agent has used today, and when it could be woken next.',
    scopes: ['read'],
    access: 'agent',
    params: wakeParams,
    answers: [{ status: 200, when: 'it is known', body: wakeStatsSchema }, unknownAgent],
  }),
  agentConfig: endpoint({
    method: 'GET',
    path: '/v1/agents/{agentId}/config',
    does: 'What was set for an agent, and what holds for it.',
    scopes: ['read', 'limits'],
    access: 'agent',
    params: wakeParams,
    headers: accept,
    yaml: true,
    answers: [{ status: 200, when: 'it is known', body: agentConfigAnswerSchema }, unknownAgent],
  }),
  putAgentConfig: endpoint({
    method: 'PUT',
    path: '/v1/agents/{agentId}/config',
    does: 'Sets what is an agent’s own, at once. What is left out stays as it is; with `whole` it is the household’s from now on.',
    scopes: ['limits'],
    params: wakeParams,
    headers: { ...contentType, ...accept },
    body: setAgentConfigSchema,
    yaml: true,
    answers: [
      { status: 200, when: 'it holds', body: agentConfigAnswerSchema },
      unknownAgent,
      changedElsewhere,
      ...misfits,
    ],
  }),
  householdConfig: endpoint({
    method: 'GET',
    path: '/v1/config',
    does: 'What was set for the household, and what holds.',
    scopes: ['read'],
    headers: accept,
    yaml: true,
    answers: [{ status: 200, when: 'always', body: householdConfigAnswerSchema }],
  }),
  putHouseholdConfig: endpoint({
    method: 'PUT',
    path: '/v1/config',
    does: 'Sets what is the household’s, at once. What is left out stays as it is; with `whole` it is Roost’s own default from now on.',
    headers: { ...contentType, ...accept },
    body: setHouseholdConfigSchema,
    yaml: true,
    answers: [{ status: 200, when: 'it holds', body: householdConfigAnswerSchema }, changedElsewhere, ...misfits],
  }),
};

/** Records: what a page restores at a relay that has lost them. */
export const recordEndpoints = {
  compareRecords: endpoint({
    method: 'POST',
    path: '/api/records/compare',
    does: 'How versions of records that a page has compare with those of the relay. Changes nothing.',
    beginsNothing: true,
    body: compareRecordsSchema,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'always', body: comparedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  offerRecords: endpoint({
    method: 'POST',
    path: '/api/records',
    does: 'Gives records back to a relay that has lost them. Those that are newer than the relay’s are taken; nobody is woken or told by it, and what would act by itself waits for the person’s yes.',
    body: offerRecordsSchema,
    bodyBytes: LIMITS.bodyBytes,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'what became of each', body: offeredRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  askedRecords: endpoint({
    method: 'GET',
    path: '/api/records/asked',
    does: 'What of the records that were given back waits for the person’s yes: servers, what is due, and wider limits. Nothing of it acts before.',
    answers: [
      { status: 200, when: 'always', body: askedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  answerAsked: endpoint({
    method: 'POST',
    path: '/api/records/asked',
    does: 'Says yes or no to what waits, one by one. It holds for this relay, and for exactly what was shown.',
    body: answerAskedSchema,
    answers: [
      { status: 200, when: 'what became of each', body: askedOutcomesSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
};

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
