/**
 * A program that speaks Anthropic's Messages API, as one of the team, where the model's server
 * speaks another protocol.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costsSchema } from '../../../../src/shared/protocol/costs.ts';
import { modelsSchema } from '../../../../src/shared/protocol/models.ts';
import { madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import {
  gemini,
  GEMINI_KEY,
  google,
  groq,
  GROQ_KEY,
  openAi,
  OPENAI_KEY,
} from '../../../support/model-servers/kinds.ts';
import { startStandIn, type Kind, type Model, type StandIn } from '../../../support/model-servers/stand-in.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';
import { clientOf } from '../../../support/proxied.ts';

interface Case {
  readonly name: string;
  readonly kind: Kind;
  readonly path: string;
  readonly key: string;
  readonly model: string;
}
const CASES: readonly Case[] = [
  { name: 'Chat Completions', kind: groq(), path: '/openai/v1', key: GROQ_KEY, model: 'llama-3.3-70b-versatile' },
  { name: 'Responses', kind: openAi(), path: '/v1/responses', key: OPENAI_KEY, model: 'gpt-5-mini' },
  { name: 'Google’s own', kind: google(), path: '/v1beta', key: GEMINI_KEY, model: 'gemini-3-flash-preview' },
  {
    name: 'Gemini’s address for OpenAI’s clients',
    kind: gemini(),
    path: '/v1beta/openai',
    key: GEMINI_KEY,
    model: 'models/gemini-3-flash-preview',
  },
];

const LOOK: Anthropic.Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};
const model: Model = ({ last, tools, results }) => {
  if (results.length > 0) return { say: `It says: ${results.join()}` };
  return tools.includes('look_up') && !last.includes('Are you there?')
    ? { say: 'I look it up.', call: { name: 'look_up', input: { word: 'heron' } } }
    : { say: 'Here I am.' };
};

let relay: OpenRelay;
let one: Browser;
let client: Anthropic;
beforeAll(async () => {
  relay = await openTestRelay();
  one = await relay.signIn();
  const agents = [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }];
  await one.fetch('/api/team', { method: 'PUT', json: { agents } });
  const made = await one.fetch('/api/credentials', { method: 'POST', json: { agentId: 'a1', label: '' } });
  client = clientOf(`${relay.url}/llm/${madeCredentialSchema.parse(await made.json()).secret}`);
});
afterAll(() => relay.close());

async function connected({ kind, path, key, model: chosen }: Case, test: (server: StandIn) => Promise<void>) {
  const server = await startStandIn(kind, model);
  try {
    const json = { kind: 'server', address: server.origin + path, key, model: chosen };
    const response = await one.fetch('/api/models', { method: 'POST', json });
    expect(response.status, await response.clone().text()).toBe(201);
    await test(server);
  } finally {
    for (const { connectionId } of modelsSchema.parse(await (await one.fetch('/api/models')).json()).connections)
      await one.fetch(`/api/models/${connectionId}`, { method: 'DELETE' });
    await server.close();
  }
}
const spentTokens = async () => {
  const costs = costsSchema.parse(await (await one.fetch('/api/costs?days=1')).json());
  return costs.agents.find(({ agentId }) => agentId === 'a1')?.today.outputTokens ?? 0;
};

describe('a program that speaks the Messages API', () => {
  it.each(CASES)('talks, calls its own tools and counts tokens before a server of $name', (given) =>
    connected(given, async (server) => {
      const ask = { model: given.model, max_tokens: 200, system: 'You are a test.', tools: [LOOK] };
      const question = { role: 'user' as const, content: 'What is a heron?' };
      const before = await spentTokens();
      const stream = client.messages.stream({ ...ask, messages: [question] });
      const first = await stream.finalMessage();
      expect(first).toMatchObject({
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'I look it up.' },
          { type: 'tool_use', name: 'look_up', input: { word: 'heron' } },
        ],
      });
      expect(await spentTokens()).toBe(before + 20);
      const tool_use_id = first.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))[0] ?? '';
      const result = { type: 'tool_result' as const, tool_use_id, content: 'A grey bird.' };
      const answered = [
        question,
        { role: 'assistant' as const, content: first.content },
        { role: 'user' as const, content: [result] },
      ];
      const second = await client.messages.create({ ...ask, messages: answered });
      expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text' }] });
      expect(JSON.stringify(second.content)).toContain('A grey bird.');
      expect(server.asked.at(-1)).toMatchObject({ model: given.model, system: 'You are a test.' });
    }),
  );

  it('answers with the agent’s own model instead of Claude, counts tokens and lists models', () =>
    connected(CASES[0] as Case, async (server) => {
      const messages = [{ role: 'user' as const, content: 'Are you there?' }];
      const answer = await client.messages.create({ model: 'claude-sonnet-5-5', max_tokens: 20, messages });
      expect(answer.content).toMatchObject([{ text: 'Here I am.' }]);
      expect(server.asked.at(-1)?.model).toBe('llama-3.3-70b-versatile');
      const { input_tokens } = await client.messages.countTokens({ model: 'claude-sonnet-5-5', messages });
      expect(input_tokens).toBeGreaterThan(5);
      const { data } = await client.models.list();
      expect(data.map(({ id }) => id)).toContain('llama-3.3-70b-versatile');
    }));

  it.each(['', '/v1', '/v1/v1'])('accepts “%s” behind its base address', (version) =>
    connected(CASES[0] as Case, async () => {
      const response = await fetch(`${client.baseURL}${version}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'anything' },
        body: JSON.stringify({
          model: 'llama-3.3-70b-versatile',
          max_tokens: 20,
          messages: [{ role: 'user', content: 'Are you there?' }],
        }),
      });
      expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: 'Here I am.' }] });
    }),
  );

  it('refuses in Anthropic’s own shape what it cannot forward, and what the server refuses', () =>
    connected(CASES[0] as Case, async (server) => {
      const ask = {
        model: 'llama-3.3-70b-versatile',
        max_tokens: 20,
        messages: [{ role: 'user' as const, content: 'Hi.' }],
      };
      const forced = { ...ask, tools: [LOOK], tool_choice: { type: 'any' as const } };
      await expect(client.messages.create(forced)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('a forced tool call cannot be forwarded'),
      });
      await expect(client.messages.create({ ...ask, stop_sequences: ['x'] })).rejects.toThrow(/stop_sequences/);
      const prefilled = [...ask.messages, { role: 'assistant' as const, content: 'I' }];
      await expect(client.messages.create({ ...ask, messages: prefilled })).rejects.toThrow(/the last one/);
      const asked = server.asked.length;
      await server.close();
      await expect(client.messages.create(ask)).rejects.toMatchObject({ status: 502 });
      await expect(client.messages.stream(ask).finalMessage()).rejects.toThrow(/cannot be reached/);
      expect(server.asked).toHaveLength(asked);
    }));
});
