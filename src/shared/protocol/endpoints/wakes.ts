/** Wakes, and the limits they keep to. */
import {
  agentConfigAnswerSchema,
  householdConfigAnswerSchema,
  setAgentConfigSchema,
  setHouseholdConfigSchema,
} from '../config.ts';
import { WAKE_PAGE, wakeFeedSchema, wakeStatsSchema } from '../wakes.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

const params = { agentId: named(idText, 'the agent’s id, name or seat') };
const accept = {
  Accept:
    '`application/yaml`: what holds, as YAML to copy out, with a mark on each line that was set here; otherwise JSON',
};
const contentType = { 'Content-Type': '`application/json` or `application/yaml`' };
const unknown = { status: 404, when: 'no such agent' } as const;
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
    params,
    answers: [{ status: 200, when: 'it is known', body: wakeStatsSchema }, unknown],
  }),
  agentConfig: endpoint({
    method: 'GET',
    path: '/v1/agents/{agentId}/config',
    does: 'What was set for an agent, and what holds for it.',
    scopes: ['read', 'limits'],
    access: 'agent',
    params,
    headers: accept,
    yaml: true,
    answers: [{ status: 200, when: 'it is known', body: agentConfigAnswerSchema }, unknown],
  }),
  putAgentConfig: endpoint({
    method: 'PUT',
    path: '/v1/agents/{agentId}/config',
    does: 'Sets what is an agent’s own, at once. What is left out stays as it is; with `whole` it is the household’s from now on.',
    scopes: ['limits'],
    params,
    headers: { ...contentType, ...accept },
    body: setAgentConfigSchema,
    yaml: true,
    answers: [{ status: 200, when: 'it holds', body: agentConfigAnswerSchema }, unknown, ...misfits],
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
    answers: [{ status: 200, when: 'it holds', body: householdConfigAnswerSchema }, ...misfits],
  }),
};
