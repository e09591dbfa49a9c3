/** Calls of wakes, and the limits they keep to. */
import {
  agentConfigAnswerSchema,
  householdConfigAnswerSchema,
  setAgentConfigSchema,
  setHouseholdConfigSchema,
} from '../config.ts';
import { WAKE_PAGE, wakeFeedSchema, wakeStatsSchema } from '../wakes.ts';
import type { Call, CallAnswer, CallParameter } from './call.ts';

const agent: CallParameter = { name: 'id', in: 'path', does: 'the agent’s id' };
const accept: CallParameter = {
  name: 'Accept',
  in: 'header',
  does: '`application/yaml`: what holds, as YAML to copy out, with a mark on each line that was set here; otherwise JSON',
};
const contentType: CallParameter = {
  name: 'Content-Type',
  in: 'header',
  does: '`application/json` or `application/yaml`',
};
const unknown: CallAnswer = { status: 404, when: 'no such agent' };
const misfits: readonly CallAnswer[] = [
  { status: 400, when: 'something does not fit; `errors` names each field' },
  { status: 413, when: 'too large' },
  { status: 415, when: 'neither JSON nor YAML' },
];

export const WAKE_CALLS: readonly Call[] = [
  {
    method: 'GET',
    path: '/api/wakes',
    does: 'What the gate decided, newest first.',
    parameters: [
      { name: 'before', in: 'query', does: 'the `wakeId` that the page before ended with' },
      {
        name: 'limit',
        in: 'query',
        does: `at most so many: ${WAKE_PAGE.min}–${WAKE_PAGE.max}, otherwise ${WAKE_PAGE.otherwise}`,
      },
      { name: 'agent', in: 'query', does: 'only wakes of this agent' },
    ],
    answers: [
      { status: 200, when: 'always', body: wakeFeedSchema },
      { status: 400, when: '`limit` does not fit' },
    ],
  },
  {
    method: 'GET',
    path: '/v1/agents/{id}/wake-stats',
    does: 'How much of its limits an agent has used today, and when it could be woken next.',
    parameters: [agent],
    answers: [{ status: 200, when: 'it is known', body: wakeStatsSchema }, unknown],
  },
  {
    method: 'GET',
    path: '/v1/agents/{id}/config',
    does: 'What was set for an agent, and what holds for it.',
    parameters: [agent, accept],
    answers: [{ status: 200, when: 'it is known', body: agentConfigAnswerSchema }, unknown],
  },
  {
    method: 'PUT',
    path: '/v1/agents/{id}/config',
    does: 'Sets all that is an agent’s own, at once. What is left out is the household’s from now on.',
    parameters: [agent, contentType, accept],
    body: setAgentConfigSchema,
    answers: [{ status: 200, when: 'it holds', body: agentConfigAnswerSchema }, unknown, ...misfits],
  },
  {
    method: 'GET',
    path: '/v1/config',
    does: 'What was set for the household, and what holds.',
    parameters: [accept],
    answers: [{ status: 200, when: 'always', body: householdConfigAnswerSchema }],
  },
  {
    method: 'PUT',
    path: '/v1/config',
    does: 'Sets all that is the household’s, at once. What is left out is Roost’s own default from now on.',
    parameters: [contentType, accept],
    body: setHouseholdConfigSchema,
    answers: [{ status: 200, when: 'it holds', body: householdConfigAnswerSchema }, ...misfits],
  },
];
