/** A program made for Claude, as one of the team, where the model is another's. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import { clientOf } from '../../../support/proxied.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';

/** As Ollama does: it refuses a model that it does not have, and counts no tokens. */
const HAS = ['qwen3:8b', 'llama3.2:3b'];
let asked: { readonly path: string; readonly model: string; readonly others: unknown }[] = [];
let server: Server;
let relay: TestRelay;
let secret: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/v1/models') return json(200, { data: HAS.map((id) => ({ id, type: 'model' })) });
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (request.url !== '/v1/messages') return json(404, { error: 'not found' });
      const { model, ...others } = JSON.parse(text) as { model: string };
      asked.push({ path: request.url, model, others });
      if (!HAS.includes(model))
        return json(404, { type: 'error', error: { type: 'not_found_error', message: `model "${model}" not found` } });
      return json(200, {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null },
        content: [{ type: 'text', text: 'Here.' }],
        usage: { input_tokens: 7, output_tokens: 2 },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  relay = await startRelay({
    env: { ANTHROPIC_BASE_URL: url, ROOST_LEAD_MODEL: 'qwen3:8b', ROOST_AGENT_MODEL: 'llama3.2:3b' },
  });
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] },
  });
  await relay.fetch('/api/models?list=true');
  const made = await relay.fetch('/api/credentials', { method: 'POST', json: { agentId: 'a1', label: '' } });
  ({ secret } = madeCredentialSchema.parse(await made.json()));
});
afterAll(async () => {
  await relay.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => (asked = []));

const ask = (model: string) =>
  clientOf(`${relay.url}/llm/${secret}`).messages.create({
    model,
    max_tokens: 20,
    metadata: { user_id: 'somebody' },
    messages: [{ role: 'user', content: 'Hi.' }],
  });

describe('a program that asks for a model of Claude’s', () => {
  it.each(['claude-sonnet-5-5', 'claude-3-5-haiku-20241022', 'haiku'])(
    'such as %s is answered by its agent’s own, where no server has it',
    async (model) => {
      expect((await ask(model)).content).toMatchObject([{ text: 'Here.' }]);
      expect(asked).toEqual([
        {
          path: '/v1/messages',
          model: 'llama3.2:3b',
          others: { max_tokens: 20, metadata: { user_id: 'somebody' }, messages: [{ role: 'user', content: 'Hi.' }] },
        },
      ]);
    },
  );

  it('answers with the model that was chosen for the agent in the running session', async () => {
    await relay.fetch('/api/sessions', {
      method: 'POST',
      json: {
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: null, transcript: null },
        settings: { agentModels: { a1: 'qwen3:8b' } },
      },
    });
    asked = [];
    await ask('claude-sonnet-5-5');
    expect(asked.map(({ model }) => model)).toContain('qwen3:8b');
  });
});

it('another model is asked for by the name that the program gave', async () => {
  await ask('qwen3:8b');
  expect(asked.map(({ model }) => model)).toEqual(['qwen3:8b']);
  await expect(ask('mistral')).rejects.toMatchObject({ status: 404 });
});

it('tokens are counted for a server that cannot', async () => {
  const count = async (content: string) =>
    (
      await clientOf(`${relay.url}/llm/${secret}`).messages.countTokens({
        model: 'claude-sonnet-5-5',
        messages: [{ role: 'user', content }],
      })
    ).input_tokens;
  const [short, long] = [await count('Hi.'), await count('Good morning to all of you. '.repeat(1_000))];
  expect(short).toBeGreaterThan(5);
  expect(short).toBeLessThan(100);
  // About 7,000 by the tokenizers of the large models.
  expect(long).toBeGreaterThan(5_000);
  expect(long).toBeLessThan(10_000);
});
