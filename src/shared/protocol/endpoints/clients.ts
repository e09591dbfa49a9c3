/** Credentials, and the MCP server. */
import { credentialsSchema, madeCredentialSchema, makeCredentialSchema } from '../team.ts';
import { endpoint, idText, named } from './endpoint.ts';

export const credentialEndpoints = {
  credentials: endpoint({
    method: 'GET',
    path: '/api/credentials',
    does: 'The credentials with which agents join from elsewhere, newest first. The secrets themselves are not kept.',
    answers: [{ status: 200, when: 'always', body: credentialsSchema }],
  }),
  makeCredential: endpoint({
    method: 'POST',
    path: '/api/credentials',
    does: 'Makes a credential for one agent, or for an application.',
    body: makeCredentialSchema,
    answers: [
      { status: 201, when: 'made; `secret` is shown here and never again', body: madeCredentialSchema },
      { status: 404, when: 'no such agent' },
      { status: 409, when: 'the agent is retired' },
    ],
  }),
  revokeCredential: endpoint({
    method: 'DELETE',
    path: '/api/credentials/{credentialId}',
    does: 'Revokes a credential. Calls that are under way with it end.',
    params: { credentialId: named(idText, 'the credential’s id') },
    answers: [
      { status: 204, when: 'nobody is let in with it any more' },
      { status: 404, when: 'no such credential' },
    ],
  }),
};

const headers = {
  Authorization: '`Bearer roost_…`, the credential of the agent',
  'Mcp-Session-Id': 'the session that `initialize` began; not in the protocol of 2026-07-28',
};
const refused = [
  { status: 401, when: 'no credential, or one that is not known or was revoked; trying again does not help' },
  { status: 403, when: 'the agent is retired' },
] as const;
const mcp = { path: '/mcp', access: 'credential', raw: true, headers } as const;

/** The messages are those of the Model Context Protocol. */
export const mcpEndpoints = {
  mcpPost: endpoint({
    ...mcp,
    method: 'POST',
    does: 'The relay as MCP server, over streamable HTTP: one message of the Model Context Protocol, of 2026-07-28 or of any earlier revision with sessions. A call of an agent that is set to sleep waits until it is woken.',
    answers: [
      { status: 200, when: '`text/event-stream`: progress, where it was asked for, and the answer' },
      { status: 202, when: 'a notification; nothing is answered' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  }),
  mcpGet: endpoint({
    ...mcp,
    method: 'GET',
    does: 'What the server says unasked within a session.',
    answers: [
      { status: 200, when: '`text/event-stream`, until either side ends it' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  }),
  mcpDelete: endpoint({
    ...mcp,
    method: 'DELETE',
    does: 'Ends a session.',
    answers: [{ status: 200, when: 'ended' }, ...refused, { status: 404, when: 'no such session' }],
  }),
};
