/** Calls of the model proxy: the Messages API under an agent’s credential. */
import { z } from 'zod';
import type { Call, CallParameter } from './call.ts';

const credential: CallParameter = { name: 'credential', in: 'path', does: 'the secret of one agent’s credential' };
const passed = z.unknown().describe('as the model answered');
const refused = [
  { status: 400, when: 'no model is connected, the session ended while the agent slept, or the body is no JSON' },
  { status: 401, when: 'the credential is unknown or revoked' },
  { status: 403, when: 'the agent is retired' },
] as const;
const unreachable = { status: 502, when: 'the model cannot be reached' } as const;
const gated = [
  { status: 413, when: 'too large' },
  unreachable,
  { status: 529, when: 'the agent was asleep for too long; `retry-after` says when to try again' },
] as const;

export const PROXY_CALLS: readonly Call[] = [
  {
    method: 'POST',
    path: '/llm/{credential}/v1/messages',
    does: 'A request to the model, with the relay’s key and on this agent’s account. This and the calls below answer without `/v1` too, and with it twice: some clients put it behind their base address, some do not. Every error is of the Messages API’s shape. While the agent’s sleeping flag is set, the request waits: a streaming one is answered 200 at once and kept alive with `ping` events, and what would be a status later is an `error` event.',
    open: true,
    parameters: [credential],
    answers: [
      { status: 200, when: 'as the model answers, byte for byte', body: passed },
      ...refused,
      { status: 402, when: 'a daily budget is used up; nothing was sent' },
      ...gated,
    ],
  },
  {
    method: 'POST',
    path: '/llm/{credential}/v1/messages/count_tokens',
    does: 'Counts the tokens of a request. It costs nothing, so no budget stops it; the sleeping flag does.',
    open: true,
    parameters: [credential],
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, ...gated],
  },
  {
    method: 'GET',
    path: '/llm/{credential}/v1/models',
    does: 'The models that there are.',
    open: true,
    parameters: [credential],
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, unreachable],
  },
  {
    method: 'GET',
    path: '/llm/{credential}/v1/models/{model}',
    does: 'One model.',
    open: true,
    parameters: [credential, { name: 'model', in: 'path', does: 'its name, as the model’s server knows it' }],
    answers: [{ status: 200, when: 'as the model answers', body: passed }, ...refused, unreachable],
  },
  ...(['GET', 'POST'] as const).map((method) => ({
    method,
    path: '/llm/*',
    does: 'No other call of the Messages API is passed on.',
    open: true as const,
    answers: [{ status: 404, when: 'always, in the Messages API’s shape' }],
  })),
];
