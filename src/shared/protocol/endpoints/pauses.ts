/** The sleeping flag. */
import { sleepingSchema } from '../team.ts';
import { endpoint, idText, named } from './endpoint.ts';

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
