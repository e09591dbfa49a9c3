/** The model proxy: the Messages API under an agent’s credential. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const credential = z.string().describe('the secret of one agent’s credential');
const passed = z.unknown().describe('as the model answered');
const refused = [
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
      ...refused,
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
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, ...gated],
  }),
  llmModels: endpoint({
    ...proxied,
    ...below('/models'),
    method: 'GET',
    does: 'The models that there are.',
    params: { credential },
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, unreachable],
  }),
  llmModel: endpoint({
    ...proxied,
    ...below('/models/{model}'),
    method: 'GET',
    does: 'One model.',
    params: { credential, model: z.string().describe('its name, as the model’s server knows it') },
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, unreachable],
  }),
  llmOtherGet: endpoint({ ...nothing, method: 'GET' }),
  llmOtherPost: endpoint({ ...nothing, method: 'POST' }),
};
