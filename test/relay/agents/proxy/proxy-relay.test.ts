import { createAnthropic } from '@ai-sdk/anthropic';
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costsSchema } from '../../../../src/shared/protocol/costs.ts';
import { sessionStartedSchema } from '../../../../src/shared/protocol/http.ts';
import { madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import { clientOf } from '../../../support/proxied.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';
import { startScriptedModel, type ScriptedModel } from '../../../support/scripted-model.ts';

const KEY = 'sk-of-the-household-1234567890';
const hello = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Good morning.' }],
} satisfies Anthropic.MessageCreateParams;

let model: ScriptedModel;
let relay: TestRelay;
let secret: string;
beforeAll(async () => {
  model = await startScriptedModel(() => [{ say: 'Good morning.' }]);
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: KEY } });
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] },
  });
  const made = await relay.fetch('/api/credentials', { method: 'POST', json: { agentId: 'a1', label: 'elsewhere' } });
  ({ secret } = madeCredentialSchema.parse(await made.json()));
});
afterAll(async () => {
  await relay.stop();
  await model.close();
});

const client = () => clientOf(`${relay.url}/llm/${secret}`);
const costs = async () => costsSchema.parse(await (await relay.fetch('/api/costs?days=1')).json());

/** A streaming request that is held: it has been answered with a ping. */
async function held(): Promise<{ rest(): Promise<string> }> {
  const response = await fetch(`${relay.url}/llm/${secret}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ ...hello, stream: true }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  return {
    async rest() {
      let text = '';
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) text += piece.value;
      return text;
    },
  };
}

describe('a client that joined a running relay', () => {
  it('reaches the model without a cookie, with the relay’s key, on its agent’s account', async () => {
    const message = await client().messages.stream(hello).finalMessage();
    expect(message.content).toMatchObject([{ text: 'Good morning.' }]);
    expect(model.requests.at(-1)?.headers['x-api-key']).toBe(KEY);
    expect((await client().messages.create(hello)).content).toMatchObject([{ text: 'Good morning.' }]);
    await expect
      .poll(async () => (await costs()).agents.find(({ agentId }) => agentId === 'a1')?.today.requests)
      .toBe(2);
  });

  it('serves the Vercel AI SDK at the address that the page gives for it', async () => {
    const before = model.requests.length;
    const vercel = createAnthropic({ baseURL: `${relay.url}/llm/${secret}/v1`, apiKey: 'anything' });
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Good morning.' }] }];
    const whole = await vercel('claude-sonnet-5-5').doGenerate({ prompt });
    expect(whole.content).toMatchObject([{ type: 'text', text: 'Good morning.' }]);
    const { stream } = await vercel('claude-sonnet-5-5').doStream({ prompt });
    const said: string[] = [];
    for (const reader = stream.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.type === 'text-delta') said.push(value.delta);
    }
    expect(said.join('')).toBe('Good morning.');
    expect(model.requests.slice(before).map(({ headers }) => headers['x-api-key'])).toEqual([KEY, KEY]);
  });

  it('waits while its agent is paused in a running session, and continues or hears of the end', async () => {
    const started = await relay.fetch('/api/sessions', {
      method: 'POST',
      json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } },
    });
    const { sessionId } = sessionStartedSchema.parse(await started.json());
    await client().messages.create(hello);
    const flag = (sleeping: boolean) =>
      relay.fetch(`/api/v1/sessions/${sessionId}/a1/sleeping`, { method: 'PUT', json: { sleeping } });
    expect((await flag(true)).status).toBe(200);
    const before = model.requests.length;
    const woken = await held();
    expect(model.requests).toHaveLength(before);
    await flag(false);
    expect(await woken.rest()).toContain('message_stop');
    expect(model.requests).toHaveLength(before + 1);

    await flag(true);
    const ended = await held();
    await relay.fetch('/api/sessions/current', { method: 'DELETE' });
    expect(await ended.rest()).toMatch(/^event: error\ndata: .*The session ended while Lyra was asleep/m);
    expect(model.requests).toHaveLength(before + 1);
  });

  it('stops at the household’s budget, which the person sees', async () => {
    await relay.fetch('/v1/config', { method: 'PUT', json: { coordination: {}, daily_budget_usd: 0 } });
    const before = model.requests.length;
    await expect(client().messages.create(hello)).rejects.toMatchObject({ status: 402, type: 'billing_error' });
    expect(model.requests).toHaveLength(before);
    expect((await costs()).stopped).toMatchObject([
      {
        scope: 'household',
        agentId: null,
        message:
          'The household’s daily budget for model requests is $0: none is sent. Raise it in the settings, under “Budgets and prices”.',
      },
    ]);
  });

  it('refuses other host names and other websites', async () => {
    const response = await fetch(`${relay.url}/llm/${secret}/v1/messages`, {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example' },
      body: JSON.stringify(hello),
    });
    expect(response.status).toBe(403);
  });

  it('refuses in the API’s own shape what it does not forward', async () => {
    const response = await fetch(`${relay.url}/llm/${secret}/v1/files`, { method: 'POST' });
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ]);
  });
});
