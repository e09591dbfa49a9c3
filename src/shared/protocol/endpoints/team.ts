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
  sessionId: named(idText, 'the running session’s id, or `current`'),
  agentId: named(idText, 'the agent’s id, name or seat'),
};
const unknown = { status: 404, when: 'no such session runs, or the agent is not in it' } as const;
const forbidden = {
  status: 403,
  when: 'the credential belongs to an agent that may not do this to others, or to an application without that scope',
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
    { status: 200, when: 'set; also answered to a repeat', body: sleepingSchema },
    forbidden,
    unknown,
    {
      status: 409,
      when: 'the lead cannot be set to sleep, or the gate did not let the agent be woken; `detail` says why. The person is never refused',
    },
  ],
} as const;

export const pauseEndpoints = {
  sleeping: endpoint({
    method: 'GET',
    path,
    aliases,
    does: 'Whether the sleeping flag of an agent of the running session is set. Accepts a Bearer token: the agent’s own credential, that of an agent which may put others to sleep, or an application’s.',
    access,
    scopes: ['read', 'sleep', 'wake'],
    params,
    answers: [{ status: 200, when: 'the agent is in the session', body: sleepingSchema }, forbidden, unknown],
  }),
  putSleeping: endpoint({
    ...set,
    method: 'PUT',
    does: 'Sets or clears the sleeping flag of an agent of the running session. Its calls and requests wait while the flag is set, and continue when it is woken. Accepts a Bearer token, as for reading; an application needs the scope `sleep` or `wake`.',
  }),
  postSleeping: endpoint({ ...set, method: 'POST', does: 'The same as `PUT`, for simple clients.' }),
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
  { status: 400, when: 'a field does not fit; `errors` names each one' },
  { status: 413, when: 'too large' },
  { status: 415, when: 'the body is neither JSON nor YAML' },
] as const;

export const wakeEndpoints = {
  wakes: endpoint({
    method: 'GET',
    path: '/api/wakes',
    does: 'The gate’s decisions, newest first.',
    query: {
      before: optional(named(idText, 'the last `decisionId` of the page before')),
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
    answers: [{ status: 200, when: 'the agent is known', body: wakeStatsSchema }, unknownAgent],
  }),
  agentConfig: endpoint({
    method: 'GET',
    path: '/v1/agents/{agentId}/config',
    does: 'An agent’s own settings, and the settings that apply to it.',
    scopes: ['read', 'limits'],
    access: 'agent',
    params: wakeParams,
    headers: accept,
    yaml: true,
    answers: [{ status: 200, when: 'the agent is known', body: agentConfigAnswerSchema }, unknownAgent],
  }),
  putAgentConfig: endpoint({
    method: 'PUT',
    path: '/v1/agents/{agentId}/config',
    does: 'Changes an agent’s own settings, at once. A field that is left out keeps its value; with `whole` it takes the household’s value.',
    scopes: ['limits'],
    params: wakeParams,
    headers: { ...contentType, ...accept },
    body: setAgentConfigSchema,
    yaml: true,
    answers: [
      { status: 200, when: 'changed', body: agentConfigAnswerSchema },
      unknownAgent,
      changedElsewhere,
      ...misfits,
    ],
  }),
  householdConfig: endpoint({
    method: 'GET',
    path: '/v1/config',
    does: 'The household’s own settings, and the settings that apply.',
    scopes: ['read'],
    headers: accept,
    yaml: true,
    answers: [{ status: 200, when: 'always', body: householdConfigAnswerSchema }],
  }),
  putHouseholdConfig: endpoint({
    method: 'PUT',
    path: '/v1/config',
    does: 'Changes the household’s settings, at once. A field that is left out keeps its value; with `whole` it takes Roost’s default.',
    headers: { ...contentType, ...accept },
    body: setHouseholdConfigSchema,
    yaml: true,
    answers: [{ status: 200, when: 'changed', body: householdConfigAnswerSchema }, changedElsewhere, ...misfits],
  }),
};

/** Records: what a page restores at a relay that has lost them. */
export const recordEndpoints = {
  compareRecords: endpoint({
    method: 'POST',
    path: '/api/records/compare',
    does: 'Compares a page’s versions of records with those of the relay. Changes nothing.',
    beginsNothing: true,
    body: compareRecordsSchema,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'always', body: comparedRecordsSchema },
      { status: 403, when: 'the caller is not a browser' },
    ],
  }),
  offerRecords: endpoint({
    method: 'POST',
    path: '/api/records',
    does: 'Restores records at a relay that has lost them. The relay takes those that are newer than its own. Nobody is woken or notified, and what would act by itself waits for the person’s yes.',
    body: offerRecordsSchema,
    bodyBytes: LIMITS.bodyBytes,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'the outcome for each record', body: offeredRecordsSchema },
      { status: 403, when: 'the caller is not a browser' },
    ],
  }),
  recordApprovals: endpoint({
    method: 'GET',
    path: '/api/records/approvals',
    does: 'The restored records that wait for the person’s yes: MCP servers, schedules and wider limits. They do not act before.',
    answers: [
      { status: 200, when: 'always', body: askedRecordsSchema },
      { status: 403, when: 'the caller is not a browser' },
    ],
  }),
  answerRecordApprovals: endpoint({
    method: 'POST',
    path: '/api/records/approvals',
    does: 'Answers waiting records, each with yes or no. The answer applies at this relay, to exactly what was shown.',
    body: answerAskedSchema,
    answers: [
      { status: 200, when: 'the outcome for each record', body: askedOutcomesSchema },
      { status: 403, when: 'the caller is not a browser' },
    ],
  }),
};

export const teamEndpoints = {
  team: endpoint({
    method: 'GET',
    path: '/api/team',
    does: 'The agents, as a page last reported them.',
    scopes: ['team'],
    answers: [{ status: 200, when: 'always', body: teamSchema }],
  }),
  putTeam: endpoint({
    method: 'PUT',
    path: '/api/team',
    does: 'Reports the agents: names and seats, which are retired, and which were forgotten for good. The relay addresses messages by this list. It holds no souls.',
    beginsNothing: true,
    body: announcedTeamSchema,
    answers: [{ status: 204, when: 'stored' }],
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
    does: 'Messages to an agent, newest first. Of those that it has read, also when and in which run.',
    params: { agentId: named(idText, 'the agent’s id, or "lead"') },
    query: {
      before: optional(named(idText, 'a message’s id: only messages after it in this list')),
      limit: wholeNumber({ min: 1, max: 200, otherwise: 50 }, 'messages on the page, 1 to 200; left out: 50'),
    },
    answers: [
      { status: 200, when: 'always; an agent without messages has an empty inbox', body: inboxSchema },
      { status: 400, when: '`limit` does not fit' },
    ],
  }),
};

export const roomEndpoints = {
  room: endpoint({
    method: 'GET',
    path: '/api/room',
    does: 'How much disk space the relay’s home takes, and how much is free. The figures are at most some seconds old.',
    answers: [{ status: 200, when: 'always', body: roomSchema }],
  }),
};
