import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sessionStartedSchema } from '../../src/protocol/http.ts';
import { madeCredentialSchema } from '../../src/protocol/team.ts';
import { ERAS, LYRA, speaking, VEGA, type Era } from '../support/mcp.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

type Result = Awaited<ReturnType<Client['callTool']>>;
const textOf = ({ content }: Result) => content.map((part) => (part.type === 'text' ? part.text : '')).join('');

describe('a client in the seat of an agent, through the whole relay', () => {
  let relay: TestRelay;
  const clients: Client[] = [];
  beforeAll(async () => {
    relay = await startRelay();
    await relay.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA, VEGA] } });
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await relay.stop();
  });

  async function json(path: string, method: string, body?: unknown): Promise<unknown> {
    const response = await relay.fetch(path, { method, ...(body === undefined ? {} : { json: body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : await response.json();
  }
  const begin = async () => sessionStartedSchema.parse(await json('/api/sessions', 'POST', { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } })).sessionId;
  const end = () => json('/api/sessions/current', 'DELETE');
  const flag = (sessionId: string, sleeping: boolean) => json(`/api/v1/sessions/${sessionId}/${LYRA.agentId}/sleeping`, 'PUT', { sleeping });

  async function join(era: Era) {
    const { secret } = madeCredentialSchema.parse(await json('/api/credentials', 'POST', { agentId: LYRA.agentId, label: 'elsewhere' }));
    const client = new Client({ name: 'a-visitor', version: '1.0.0' }, speaking(era));
    clients.push(client);
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', relay.url), { requestInit: { headers: { authorization: `Bearer ${secret}` } } }));
    return {
      client,
      call: async (name: string, input: Record<string, unknown> = {}) => textOf(await client.callTool({ name, arguments: input })),
      /** Resolves when the call waits, with the answer to come. */
      held: (name: string) =>
        new Promise<{ readonly answer: Promise<string> }>((resolve) => {
          const answer = client.callTool({ name }, { onprogress: () => resolve({ answer }) }).then(textOf);
        }),
    };
  }

  async function stateOf(client: Client): Promise<{ readonly unread: number }> {
    const [content] = (await client.readResource({ uri: 'roost://agent/state' })).contents;
    return z.looseObject({ unread: z.number() }).parse(JSON.parse(content && 'text' in content ? content.text : ''));
  }

  describe.each(ERAS)('by the %s protocol', (era) => {
    it('is one of the team, reads its mail once, writes to others, and is held while it sleeps', async () => {
      const sessionId = await begin();
      const { call, client, held } = await join(era);
      expect(await call('list_team')).toContain('Lyra (you)');
      const text = `Good morning, ${era}.`;
      await json('/api/messages', 'POST', { text, clientId: randomUUID(), to: LYRA.agentId });
      await expect.poll(async () => (await stateOf(client)).unread).toBe(1);
      expect(await call('read_inbox')).toContain(text);
      expect(await call('read_inbox')).not.toContain(text);
      expect(await call('message_agent', { to: 'Vega', message: 'News can wait.' })).not.toContain('error');

      expect(await call('write_soul', { text: ' ' })).toContain('a soul is not empty');
      expect(await call('write_soul', { text: `I am the one who speaks ${era}.` })).toContain('Kept');

      await flag(sessionId, true);
      const first = await held('list_team');
      await flag(sessionId, false);
      expect(await first.answer).toContain('Lyra (you)');

      await flag(sessionId, true);
      const second = await held('list_team');
      await end();
      expect(await second.answer).toMatch(/^session ended/);
      expect(await call('write_soul', { text: 'Too late.' })).toContain('No session runs');
    });
  });

  it('does not keep the relay from ending', async () => {
    const sessionId = await begin();
    const { call, held } = await join('modern');
    await call('list_team');
    await flag(sessionId, true);
    const { answer } = await held('list_team');
    const { code } = await relay.stop();
    expect(code).toBe(0);
    expect(await answer).toMatch(/^session ended/);
  });
});
