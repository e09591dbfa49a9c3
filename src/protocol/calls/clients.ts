/** Calls of credentials, the MCP server and the model proxy. */
import { credentialsSchema, madeCredentialSchema, makeCredentialSchema } from '../team.ts';
import type { Call } from './call.ts';

const CREDENTIAL_CALLS: readonly Call[] = [
  {
    method: 'GET',
    path: '/api/credentials',
    does: 'The credentials with which agents join from elsewhere, newest first. The secrets themselves are not kept.',
    answers: [{ status: 200, when: 'always', body: credentialsSchema }],
  },
  {
    method: 'POST',
    path: '/api/credentials',
    does: 'Makes a credential for one agent.',
    body: makeCredentialSchema,
    answers: [
      { status: 201, when: 'made; `secret` is shown here and never again', body: madeCredentialSchema },
      { status: 404, when: 'no such agent' },
      { status: 409, when: 'the agent is retired' },
    ],
  },
  {
    method: 'DELETE',
    path: '/api/credentials/{id}',
    does: 'Revokes a credential. Calls that are under way with it end.',
    parameters: [{ name: 'id', in: 'path', does: 'the credential’s id' }],
    answers: [
      { status: 204, when: 'nobody is let in with it any more' },
      { status: 404, when: 'no such credential' },
    ],
  },
];

export const CLIENT_CALLS: readonly Call[] = [...CREDENTIAL_CALLS];
