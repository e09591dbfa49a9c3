/** Calls of credentials, the MCP server and the model proxy. */
import { credentialsSchema, madeCredentialSchema, makeCredentialSchema } from '../team.ts';
import type { Call, CallParameter } from './call.ts';
import { PROXY_CALLS } from './proxy.ts';

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
    does: 'Makes a credential for one agent, or for an application.',
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

const credential: CallParameter = {
  name: 'Authorization',
  in: 'header',
  does: '`Bearer roost_…`, the credential of the agent',
};
const session: CallParameter = {
  name: 'Mcp-Session-Id',
  in: 'header',
  does: 'the session that `initialize` began; not in the protocol of 2026-07-28',
};
const refused = [
  { status: 401, when: 'no credential, or one that is not known or was revoked; trying again does not help' },
  { status: 403, when: 'the agent is retired' },
] as const;

/** The messages are those of the Model Context Protocol. */
const MCP_CALLS: readonly Call[] = [
  {
    method: 'POST',
    path: '/mcp',
    does: 'The relay as MCP server, over streamable HTTP: one message of the Model Context Protocol, of 2026-07-28 or of any earlier revision with sessions. A call of an agent that is set to sleep waits until it is woken.',
    open: true,
    parameters: [credential, session],
    answers: [
      { status: 200, when: '`text/event-stream`: progress, where it was asked for, and the answer' },
      { status: 202, when: 'a notification; nothing is answered' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  },
  {
    method: 'GET',
    path: '/mcp',
    does: 'What the server says unasked within a session.',
    open: true,
    parameters: [credential, session],
    answers: [
      { status: 200, when: '`text/event-stream`, until either side ends it' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  },
  {
    method: 'DELETE',
    path: '/mcp',
    does: 'Ends a session.',
    open: true,
    parameters: [credential, session],
    answers: [{ status: 200, when: 'ended' }, ...refused, { status: 404, when: 'no such session' }],
  },
];

export const CLIENT_CALLS: readonly Call[] = [...CREDENTIAL_CALLS, ...MCP_CALLS, ...PROXY_CALLS];
