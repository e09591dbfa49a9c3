import { DEVICE_CODES } from '../device-code-settings.ts';
import {
  deviceCodeSchema,
  deviceCodeStateSchema,
  joinOfferSchema,
  servedTailnetSchema,
  tailnetSchema,
} from '../device-codes.ts';
import { credentialsSchema, madeCredentialSchema, makeCredentialSchema } from '../team.ts';
import { endpoint, idText, named } from './endpoint.ts';

// Adding a second device with one code.

const params = { id: named(idText, 'id of a code that this browser made') };
const unknown = { status: 404, when: 'this browser has made no such code, or the code has ended' } as const;

export const deviceCodeEndpoints = {
  makeDeviceCode: endpoint({
    method: 'POST',
    path: '/api/device-codes',
    does: `Makes a code that lets one more browser in, as a guest. A guest may join the household and nothing else. The code works once, for ${DEVICE_CODES.openMs / 60_000} minutes.`,
    beginsNothing: true,
    answers: [
      { status: 201, when: 'the code is made', body: deviceCodeSchema },
      { status: 409, when: `\`too-many-codes\`: ${DEVICE_CODES.most} of this browser are open` },
    ],
  }),
  deviceCode: endpoint({
    method: 'GET',
    path: '/api/device-codes/{id}',
    does: 'State of a code.',
    params,
    answers: [{ status: 200, when: 'the code is known', body: deviceCodeStateSchema }, unknown],
  }),
  letDeviceIn: endpoint({
    method: 'PUT',
    path: '/api/device-codes/{id}/guest',
    does: 'The person has compared the words. The browser that came by the code stays signed in.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'that browser is no longer a guest' }, unknown],
  }),
  endDeviceCode: endpoint({
    method: 'DELETE',
    path: '/api/device-codes/{id}',
    does: 'Ends a code. A browser that has only this code is signed out.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'the code has ended' }, unknown],
  }),
  leaveJoinOffer: endpoint({
    method: 'POST',
    path: '/api/join-offer',
    does: 'Leaves this browser’s offer to join for the page that shows the code. The browser must have come by a code.',
    beginsNothing: true,
    body: joinOfferSchema,
    answers: [
      { status: 204, when: 'the offer is stored, and replaces an earlier one' },
      { status: 409, when: '`no-code`: this browser came by no code, or the code has ended' },
    ],
  }),
};

// The relay’s address for the person’s own devices.

export const tailnetEndpoints = {
  tailnet: endpoint({
    method: 'GET',
    path: '/api/tailnet',
    does: 'Whether Tailscale is on the relay’s machine, and leads to the relay.',
    answers: [{ status: 200, when: 'always', body: tailnetSchema }],
  }),
  serveTailnet: endpoint({
    method: 'PUT',
    path: '/api/tailnet',
    does: 'Makes Tailscale lead to the relay, with TLS. Only devices of the person’s tailnet reach it there.',
    beginsNothing: true,
    answers: [
      { status: 200, when: 'it leads here', body: servedTailnetSchema },
      { status: 409, when: '`no-tailnet`: Tailscale is missing or refuses; `detail` has its words' },
    ],
  }),
};

// Credentials, and the MCP server.

export const credentialEndpoints = {
  credentials: endpoint({
    method: 'GET',
    path: '/api/credentials',
    does: 'Lists the credentials, newest first. The relay does not store the secrets themselves.',
    answers: [{ status: 200, when: 'always', body: credentialsSchema }],
  }),
  makeCredential: endpoint({
    method: 'POST',
    path: '/api/credentials',
    does: 'Makes a credential for an agent or an application.',
    body: makeCredentialSchema,
    answers: [
      { status: 201, when: 'made; `secret` is shown only in this answer', body: madeCredentialSchema },
      { status: 404, when: 'no such agent' },
      { status: 409, when: 'the agent is retired' },
    ],
  }),
  revokeCredential: endpoint({
    method: 'DELETE',
    path: '/api/credentials/{credentialId}',
    does: 'Revokes a credential. Calls under way with it end.',
    params: { credentialId: named(idText, 'the credential’s id') },
    answers: [
      { status: 204, when: 'the credential is no longer accepted' },
      { status: 404, when: 'no such credential' },
    ],
  }),
};
