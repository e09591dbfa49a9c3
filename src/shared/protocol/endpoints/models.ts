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
import { endpoint, named } from './endpoint.ts';

// The model proxy: the Messages API under an agent’s credential.

const credential = z.string().describe('the secret of one agent’s credential');
const passed = z.unknown().describe('as the model answered');
const proxyRefusals = [
  {
    status: 400,
    when: 'no model is connected, the session ended while the agent slept, the body is no JSON, or it cannot be said in the protocol of the model’s server',
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
    when: 'the agent was asleep for too long, or the model’s server is busy; `retry-after` says when to try again',
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
  does: 'No other call of the Messages API is passed on.',
  answers: [{ status: 404, when: 'always, in the Messages API’s shape' }],
} as const;

export const proxyEndpoints = {
  llmMessages: endpoint({
    ...proxied,
    ...below('/messages'),
    method: 'POST',
    does: 'A request to the model, with the relay’s key and on this agent’s account. This and the calls below answer without `/v1` too, and with it twice: some clients put it behind their base address, some do not. Every error is of the Messages API’s shape. While the agent’s sleeping flag is set, the request waits: a streaming one is answered 200 at once and kept alive with `ping` events, and what would be a status later is an `error` event.',
    params: { credential },
    answers: [
      {
        status: 200,
        when: 'as the model answers, byte for byte; where its server speaks another protocol, in the Messages API’s form',
        body: passed,
      },
      ...proxyRefusals,
      {
        status: 402,
        when: 'a daily budget is used up, and nothing was sent; or the model’s provider wants to be paid',
      },
      ...gated,
    ],
  }),
  llmCountTokens: endpoint({
    ...proxied,
    ...below('/messages/count_tokens'),
    method: 'POST',
    does: 'Counts the tokens of a request. It costs nothing, so no budget stops it; the sleeping flag does.',
    params: { credential },
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...proxyRefusals, ...gated],
  }),
  llmModels: endpoint({
    ...proxied,
    ...below('/models'),
    method: 'GET',
    does: 'The models that there are.',
    params: { credential },
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...proxyRefusals, unreachable],
  }),
  llmModel: endpoint({
    ...proxied,
    ...below('/models/{model}'),
    method: 'GET',
    does: 'One model.',
    params: { credential, model: z.string().describe('its name, as the model’s server knows it') },
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...proxyRefusals, unreachable],
  }),
  llmOtherGet: endpoint({ ...nothing, method: 'GET' }),
  llmOtherPost: endpoint({ ...nothing, method: 'POST' }),
};

const params = { connectionId: named(connectionIdText, 'of a connection') };
const refused = [
  { status: 403, when: '`model-address`: this household may not connect that address' },
  { status: 409, when: '`too-many-models`' },
  {
    status: 422,
    when: '`no-answer`: it was tried and did not answer; the detail says why. `choose-model`: it has several, and what is asked there may cost money: `models` has them, and nothing was asked. Nothing is kept',
  },
] as const;

export const modelEndpoints = {
  models: endpoint({
    method: 'GET',
    path: '/api/models',
    does: 'Which models are connected, and whether they answer. Asks none of them.',
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  listModels: endpoint({
    method: 'POST',
    path: '/api/models/list',
    does: 'The same, after each server was asked for its models. No model is asked for words.',
    beginsNothing: true,
    heavy: true,
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  findServers: endpoint({
    method: 'POST',
    path: '/api/models/find',
    does: 'Asks the usual ports of model servers on the relay’s own machine which models are there.',
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
    does: 'Connects a model: it is tried with one short request, and kept, sealed, where it answers. Sessions that run go on with what they have.',
    heavy: true,
    body: connectModelSchema,
    answers: [{ status: 201, when: 'it answers, and is kept', body: connectionSchema }, ...refused],
  }),
  changeModelKey: endpoint({
    method: 'PUT',
    path: '/api/models/{connectionId}/key',
    does: 'Tries another key, and keeps it in place of the one before where it answers.',
    heavy: true,
    params,
    body: changeKeySchema,
    answers: [
      { status: 200, when: 'it answers', body: connectionSchema },
      { status: 404, when: 'no such connection of a page' },
      ...refused,
    ],
  }),
  tryModel: endpoint({
    method: 'POST',
    path: '/api/models/{connectionId}/try',
    does: 'Asks it for a word, now.',
    beginsNothing: true,
    heavy: true,
    params,
    answers: [
      { status: 200, when: 'it was tried; `state` says how that went', body: connectionSchema },
      { status: 404, when: 'no such connection' },
    ],
  }),
  removeModel: endpoint({
    method: 'DELETE',
    path: '/api/models/{connectionId}',
    does: 'Removes it, and its key.',
    beginsNothing: true,
    params,
    answers: [
      { status: 204, when: 'it is gone' },
      { status: 404, when: 'no such connection of a page' },
    ],
  }),
};
