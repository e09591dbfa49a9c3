/** Models that a page connects. */
import { z } from 'zod';
import {
  changeKeySchema,
  connectionIdText,
  connectionSchema,
  connectModelSchema,
  foundServersSchema,
  modelsSchema,
} from '../models.ts';
import { runningSettingsSchema } from '../http.ts';
import { endpoint, named } from './endpoint.ts';

// The model proxy: the Messages API under an agent’s credential.

const credential = z.string().describe('the secret of one agent’s credential');
const passed = z.unknown().describe('the model’s answer');
const proxyRefusals = [
  {
    status: 400,
    when: 'no model is connected, the session ended while the agent slept, the body is not JSON, or the model server’s protocol cannot express it',
  },
  { status: 401, when: 'the credential is unknown or revoked' },
  { status: 403, when: 'the agent is retired' },
] as const;
const unreachable = { status: 502, when: 'the model cannot be reached' } as const;
const gated = [
  { status: 413, when: 'too large' },
  unreachable,
  {
    status: 529,
    when: 'the agent was asleep for too long, or the model server is busy; `retry-after` says when to try again',
  },
] as const;
const proxied = { access: 'credential', raw: true } as const;

/**
 * Some clients append `/v1` to a base address (Anthropic's SDKs), others expect one that ends in it
 * (the Vercel AI SDK), and people give either to both. The relay therefore answers under each.
 */
const below = <const Rest extends string>(rest: Rest) => ({
  path: `/llm/{credential}/v1${rest}` as const,
  aliases: [`/llm/{credential}${rest}`, `/llm/{credential}/v1/v1${rest}`],
});
const nothing = {
  ...proxied,
  path: '/llm/*',
  does: 'The relay forwards no other call of the Messages API.',
  answers: [{ status: 404, when: 'always, in the Messages API’s shape' }],
} as const;

export const proxyEndpoints = {
  llmMessages: endpoint({
    ...proxied,
    ...below('/messages'),
    method: 'POST',
    does: 'Forwards a request to the model, with the relay’s key, and counts it for this agent. Some clients append `/v1` to a base address and some do not, so this and the following calls also answer without `/v1`, and with it twice. Every error has the Messages API’s shape. While the agent’s sleeping flag is set, the request waits. A streaming one is answered 200 at once and kept alive with `ping` events; a later error is an `error` event.',
    params: { credential },
    answers: [
      {
        status: 200,
        when: 'the model’s answer, byte for byte; if its server speaks another protocol, in the Messages API’s form',
        body: passed,
      },
      ...proxyRefusals,
      {
        status: 402,
        when: 'a daily budget is used up, and nothing was sent; or the model’s provider demands payment',
      },
      ...gated,
    ],
  }),
  llmCountTokens: endpoint({
    ...proxied,
    ...below('/messages/count_tokens'),
    method: 'POST',
    does: 'Counts the tokens of a request. It costs nothing, so budgets do not apply. The sleeping flag does.',
    params: { credential },
    answers: [{ status: 200, when: 'the model’s answer', body: passed }, ...proxyRefusals, ...gated],
  }),
  llmModels: endpoint({
    ...proxied,
    ...below('/models'),
    method: 'GET',
    does: 'Lists the models.',
    params: { credential },
    answers: [{ status: 200, when: 'the model server’s answer', body: passed }, ...proxyRefusals, unreachable],
  }),
  llmModel: endpoint({
    ...proxied,
    ...below('/models/{model}'),
    method: 'GET',
    does: 'Describes one model.',
    params: { credential, model: z.string().describe('the model’s name at its server') },
    answers: [{ status: 200, when: 'the model server’s answer', body: passed }, ...proxyRefusals, unreachable],
  }),
  llmOtherGet: endpoint({ ...nothing, method: 'GET' }),
  llmOtherPost: endpoint({ ...nothing, method: 'POST' }),
};

const params = { connectionId: named(connectionIdText, 'the connection’s id') };
const refused = [
  { status: 403, when: '`model-address`: this household may not connect that address' },
  { status: 409, when: '`too-many-models`' },
  {
    status: 422,
    when: '`no-answer`: the model was tried and did not answer; `detail` says why. `choose-model`: the server has several, listed in `models`, and asking one may cost money, so none was asked. Nothing is stored',
  },
] as const;

export const modelEndpoints = {
  models: endpoint({
    method: 'GET',
    path: '/api/models',
    does: 'The connected models, and whether they answer. This call asks none of them.',
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  changeSession: endpoint({
    method: 'PUT',
    path: '/api/sessions/current/settings',
    does: 'Changes the models and numbers of the running session, from each agent’s next answer on. A number that is left out stays.',
    body: runningSettingsSchema,
    answers: [
      { status: 204, when: 'set' },
      { status: 409, when: '`no-session`: no session is running' },
    ],
  }),
  listModels: endpoint({
    method: 'POST',
    path: '/api/models/list',
    does: 'The connected models, after their servers were asked for their lists. No model is asked for an answer.',
    beginsNothing: true,
    heavy: true,
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  findServers: endpoint({
    method: 'POST',
    path: '/api/models/find',
    does: 'Asks the usual ports of model servers on the relay’s own machine for their models.',
    beginsNothing: true,
    heavy: true,
    answers: [
      { status: 200, when: 'always', body: foundServersSchema },
      { status: 403, when: '`model-address`: this household may not connect addresses of the relay’s machine' },
    ],
  }),
  connectModel: endpoint({
    method: 'POST',
    path: '/api/models',
    does: 'Connects a model. The relay tries it with one short request, and stores it, sealed, if it answers. A running session has it from its next answer on.',
    heavy: true,
    body: connectModelSchema,
    answers: [{ status: 201, when: 'the model answers, and is stored', body: connectionSchema }, ...refused],
  }),
  changeModelKey: endpoint({
    method: 'PUT',
    path: '/api/models/{connectionId}/key',
    does: 'Tries another key, and replaces the stored one if the model answers.',
    heavy: true,
    params,
    body: changeKeySchema,
    answers: [
      { status: 200, when: 'the model answers', body: connectionSchema },
      { status: 404, when: 'no page has made such a connection' },
      ...refused,
    ],
  }),
  tryModel: endpoint({
    method: 'POST',
    path: '/api/models/{connectionId}/try',
    does: 'Tries a connection now with one short request.',
    beginsNothing: true,
    heavy: true,
    params,
    answers: [
      { status: 200, when: 'the connection was tried; `state` has the outcome', body: connectionSchema },
      { status: 404, when: 'no such connection' },
    ],
  }),
  removeModel: endpoint({
    method: 'DELETE',
    path: '/api/models/{connectionId}',
    does: 'Removes a connection and its key.',
    beginsNothing: true,
    params,
    answers: [
      { status: 204, when: 'removed' },
      { status: 404, when: 'no page has made such a connection' },
    ],
  }),
};
