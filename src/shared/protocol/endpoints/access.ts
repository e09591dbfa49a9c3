import { DEVICE_CODES } from '../device-code-settings.ts';
import { deviceCodeSchema, deviceCodeStateSchema, joinOfferSchema } from '../device-codes.ts';
import { credentialsSchema, madeCredentialSchema, makeCredentialSchema } from '../team.ts';
import { endpoint, idText, named } from './endpoint.ts';

// Adding a second device with one code.

const params = { id: named(idText, 'of a code that this browser made') };
const unknown = { status: 404, when: 'this browser has made no such code, or it is over' } as const;

export const deviceCodeEndpoints = {
  makeDeviceCode: endpoint({
    method: 'POST',
    path: '/api/device-codes',
    does: `Makes a code that lets one more browser in, as a guest: it may join the household and nothing else. It can be opened once, for ${DEVICE_CODES.openMs / 60_000} minutes.`,
    beginsNothing: true,
    answers: [
      { status: 201, when: 'it is made', body: deviceCodeSchema },
      { status: 409, when: `\`too-many-codes\`: ${DEVICE_CODES.most} of this browser are open` },
    ],
  }),
  deviceCode: endpoint({
    method: 'GET',
    path: '/api/device-codes/{id}',
    does: 'What became of a code.',
    params,
    answers: [{ status: 200, when: 'it is known', body: deviceCodeStateSchema }, unknown],
  }),
  letDeviceIn: endpoint({
    method: 'PUT',
    path: '/api/device-codes/{id}/guest',
    does: 'The person has compared the words: whoever came by the code stays let in.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'it is no guest any more' }, unknown],
  }),
  endDeviceCode: endpoint({
    method: 'DELETE',
    path: '/api/device-codes/{id}',
    does: 'Ends a code that made nobody a device. Who was let in by nothing else is out.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'it is over' }, unknown],
  }),
  leaveJoinOffer: endpoint({
    method: 'POST',
    path: '/api/join-offer',
    does: 'Leaves the offer to join of a browser that came by a code, for the page that shows the code.',
    beginsNothing: true,
    body: joinOfferSchema,
    answers: [
      { status: 204, when: 'it lies there, instead of an earlier one' },
      { status: 409, when: '`no-code`: this browser came by no code, or the code is over' },
    ],
  }),
};

// Credentials, and the MCP server.

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

/** The bodies are messages of the Model Context Protocol. */
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
