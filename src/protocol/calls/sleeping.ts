/** Calls of the sleeping flag. */
import { sleepingSchema } from '../team.ts';
import type { Call, CallParameter } from './call.ts';

const path = '/api/v1/sessions/{sessionId}/{agentId}/sleeping';
const parameters: readonly CallParameter[] = [
  { name: 'sessionId', in: 'path', does: 'the running session' },
  { name: 'agentId', in: 'path', does: 'the agent’s id' },
];
const unknown = { status: 404, when: 'no such session runs, or the agent is not in it' } as const;
const set: Omit<Call, 'method' | 'does'> = {
  path,
  parameters,
  body: sleepingSchema,
  answers: [
    { status: 200, when: 'it is so, also where it was so before', body: sleepingSchema },
    unknown,
    { status: 409, when: 'the gate did not let it be woken; `detail` says why. The person is never refused' },
  ],
};

export const SLEEPING_CALLS: readonly Call[] = [
  {
    method: 'GET',
    path,
    does: 'Whether an agent of the running session is set to sleep. The agent’s own credential will do, as a Bearer token.',
    parameters,
    answers: [{ status: 200, when: 'it is in the session', body: sleepingSchema }, unknown],
  },
  {
    ...set,
    method: 'PUT',
    does: 'Sets an agent of the running session to sleep, or wakes it. What it asks for while it sleeps waits, and goes on when it is woken. The agent’s own credential will do, as a Bearer token.',
  },
  { ...set, method: 'POST', does: 'The same as `PUT`.' },
];
