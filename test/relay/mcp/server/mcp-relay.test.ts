import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { seatColor } from '../../../../src/shared/domain/seat.ts';
import { writeWake, type AgentPayload } from '../../../../src/shared/domain/wake-payload.ts';
import { sessionStartedSchema } from '../../../../src/shared/protocol/http.ts';
import { credentialsSchema, madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import { ERAS, LYRA, speaking, VEGA, type Era } from '../../../support/mcp.ts';
import { openEventSource } from '../../../support/event-source.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';

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
  const begin = async () =>
    sessionStartedSchema.parse(
      await json('/api/sessions', 'POST', {
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: null, transcript: null },
      }),
    ).sessionId;
  const end = () => json('/api/sessions/current', 'DELETE');
  const flag = (sessionId: string, sleeping: boolean) =>
    json(`/api/v1/sessions/${sessionId}/${LYRA.agentId}/sleeping`, 'PUT', { sleeping });

  const post = (text: string, to?: string) =>
    json('/api/messages', 'POST', { text, clientId: randomUUID(), ...(to === undefined ? {} : { to }) });
  /** The person presses WAKE for Lyra. */
  const wake = (more: Partial<AgentPayload>) =>
    post(
      writeWake([
        { id: LYRA.agentId, name: LYRA.name, position: 1, ...seatColor(1), soul: null, transcript: null, ...more },
      ]),
    );

  /** `readsSoul`: with the grant. */
  async function join(era: Era, readsSoul = false) {
    const { secret } = madeCredentialSchema.parse(
      await json('/api/credentials', 'POST', {
        agentId: LYRA.agentId,
        label: 'elsewhere',
        ...(readsSoul ? { readsSoul } : {}),
      }),
    );
    const client = new Client({ name: 'a-visitor', version: '1.0.0' }, speaking(era));
    clients.push(client);
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', relay.url), {
        requestInit: { headers: { authorization: `Bearer ${secret}` } },
      }),
    );
    return {
      client,
      call: async (name: string, input: Record<string, unknown> = {}) =>
        textOf(await client.callTool({ name, arguments: input })),
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
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
    it('is a team member, reads its inbox once, writes to others, and is held while its agent sleeps', async () => {
      const sessionId = await begin();
      const { call, client, held } = await join(era);
      expect(await call('list_team')).toContain('Lyra (you)');
      expect(await call('choose_name', { name: ' ' })).toContain('A name has 1 to 80 visible characters.');
      expect(await call('choose_name', { name: 'Lyra' })).toBe('Your name is Lyra from now on.');

      const text = `Good morning, ${era}.`;
      await json('/api/messages', 'POST', { text, clientId: randomUUID(), to: LYRA.agentId });
      await expect.poll(async () => (await stateOf(client)).unread).toBe(1);
      expect(await call('read_inbox')).toContain(text);
      expect(await call('read_inbox')).not.toContain(text);
      expect(await call('message_agent', { to: 'Vega', message: 'News can wait.' })).not.toContain('error');

      // The person's own words ask for nothing. Threads may have words of others.
      expect(await call('choose_name', { name: 'Lyra' })).toBe('Your name is Lyra from now on.');
      await call('list_threads');
      expect(await call('choose_name', { name: 'Lyra' })).toContain('This waits for the human');

      await flag(sessionId, true);
      const first = await held('list_team');
      await flag(sessionId, false);
      expect(await first.answer).toContain('Lyra (you)');

      await flag(sessionId, true);
      const second = await held('list_team');
      await end();
      expect(await second.answer).toMatch(/^session ended/);
      expect(await call('choose_name', { name: 'Late' })).toContain('No session runs');
    });
  });

  describe('its soul and its last conversation', () => {
    const SOUL = 'I tune the strings at night.';
    const TRANSCRIPT = 'Ada (2026-11-21 08:52 UTC):\nThe word is heron.';
    const OF_SOULS = ['read_soul', 'read_last_conversation', 'write_soul'];
    const ON_DEVICES =
      / lives on the person’s devices, and the relay does not have it now\. You can read it during a session in which you were woken/;
    const UNREAD = /^You have not read your soul, .* Call read_soul first/;

    it('refuses soul and conversation without the grant', async () => {
      await begin();
      await wake({ soul: SOUL });
      const { call, tools } = await join('modern');
      expect(await tools()).toContain('choose_name');
      for (const name of OF_SOULS) {
        expect(await tools()).not.toContain(name);
        await expect(call(name, { text: 'I am somebody else.' })).rejects.toThrow(`There is no tool "${name}"`);
      }
      await end();
    });

    it('refuses soul and conversation to an application, whatever it asks for', async () => {
      const { credential } = madeCredentialSchema.parse(
        await json('/api/credentials', 'POST', { agentId: null, label: 'a switch', readsSoul: true }),
      );
      const { credentials } = credentialsSchema.parse(await json('/api/credentials', 'GET'));
      expect([
        credential,
        credentials.find(({ credentialId }) => credentialId === credential.credentialId),
      ]).toMatchObject([{ readsSoul: false }, { readsSoul: false }]);
    });

    it.each(ERAS)(
      'returns them when the person wakes the driven agent, and refuses to write an unread soul, by the %s protocol',
      async (era) => {
        const { call, tools } = await join(era, true);
        expect(await tools()).toEqual(expect.arrayContaining(OF_SOULS));
        expect(await call('read_soul')).toMatch(ON_DEVICES);
        expect(await call('write_soul', { text: 'Too early.' })).toContain('No session runs');

        await begin();
        expect(await call('read_soul')).toMatch(ON_DEVICES);
        expect(await call('read_last_conversation')).toMatch(ON_DEVICES);
        expect(await call('write_soul', { text: 'I am somebody else.' })).toMatch(UNREAD);

        await wake({ soul: SOUL, transcript: TRANSCRIPT });
        expect(await call('read_last_conversation')).toContain(TRANSCRIPT);
        expect(await call('write_soul', { text: 'I am somebody else.' })).toMatch(UNREAD);
        expect(await call('read_soul')).toBe(`Your soul:\n> ${SOUL}`);
        expect(await call('write_soul', { text: ' ' })).toContain('a soul is not empty');
        expect(await call('write_soul', { text: `${SOUL} And by day.` })).toContain('Stored');
        expect(await call('read_soul')).toBe(`Your soul:\n> ${SOUL} And by day.`);

        await post('Which word was it?', LYRA.agentId);
        await expect
          .poll(() => call('read_last_conversation'))
          .toMatch(/The word is heron\.\n\n=== In this session ===[^]*\nAda \([^)]+\):\n> Which word was it\?/);
        await expect.poll(() => call('read_last_conversation')).toMatch(/Which word was it\?\n\nLyra \([^)]+\):\n/);

        const other = await join(era, true);
        expect(await other.call('write_soul', { text: 'I am somebody else.' })).toMatch(UNREAD);
        expect(await other.call('read_soul')).toBe(`Your soul:\n> ${SOUL} And by day.`);
        expect(await other.call('write_soul', { text: 'I tune by day.' })).toContain('Stored');
        expect(await call('write_soul', { text: SOUL })).toMatch(
          /^Your soul was rewritten since you read it\..* Call read_soul again/,
        );
        expect(await call('read_soul')).toBe('Your soul:\n> I tune by day.');
        await end();

        expect(await call('read_soul')).toMatch(ON_DEVICES);
        await begin();
        expect(await call('read_last_conversation')).toMatch(ON_DEVICES);
        expect(await call('write_soul', { text: 'I have read it in this relay’s life.' })).toContain('Stored');
        await end();
      },
    );

    it('says that there are none, and then accepts a first soul', async () => {
      const { call } = await join('modern', true);
      await begin();
      await wake({});
      expect(await call('write_soul', { text: SOUL })).toContain('Stored');
      expect(await call('read_soul')).toBe(`Your soul:\n> ${SOUL}`);
      await end();
      await begin();
      await wake({});
      expect(await call('read_soul')).toMatch(/^You have no soul yet/);
      await end();
    });
  });

  it.each(ERAS)('hears the person at once while it waits, also earlier messages, by the %s protocol', async (era) => {
    await begin();
    const { call } = await join(era);
    await call('list_team');
    const waiting = call('wait_for_message', { timeoutSeconds: 8 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await post('Come down, please.', LYRA.agentId);
    expect(await waiting).toBe(
      'The human wrote to you meanwhile; nothing new was read in the threads. Read their words with read_inbox.',
    );
    // Not read yet: no wait keeps it from them.
    expect(await call('wait_for_agent', { agent: 'Vega', timeoutSeconds: 8 })).toMatch(
      /^The human wrote to you meanwhile/,
    );
    expect(await call('read_inbox')).toContain('Come down, please.');
    expect(await call('wait_for_mention', { timeoutSeconds: 0 })).toMatch(/^Nothing came in 0 s/);
    await end();
  });

  it("shows a client's call on every page while it lasts, with the beginning of its input", async () => {
    const headers = await relay.headers();
    const events = await openEventSource((signal) => fetch(`${relay.url}/api/events`, { headers, signal }));
    await begin();
    const { call } = await join('modern');
    const clientsIn = (data: unknown) => (data as { clients?: object[] }).clients ?? [];
    const waits = call('wait_for_agent', { agent: 'Vega', timeoutSeconds: 1 });
    const [seen] = (
      await events.until((all) => all.some(({ event, data }) => event === 'waiting' && clientsIn(data).length > 0))
    )
      .filter(({ event }) => event === 'waiting')
      .flatMap(({ data }) => clientsIn(data));
    expect(seen).toMatchObject({ agentId: LYRA.agentId, tool: 'wait_for_agent', input: { agent: 'Vega' } });
    await waits;
    await events.until((all) => {
      const last = all.findLast(({ event }) => event === 'waiting');
      return last !== undefined && clientsIn(last.data).length === 0;
    });
    events.close();
    await end();
  });

  it('leaves the person a message in a session and between two, which stands in its conversation with them', async () => {
    const headers = await relay.headers();
    const events = await openEventSource((signal) => fetch(`${relay.url}/api/events`, { headers, signal }));
    const sessionId = await begin();
    const { call } = await join('modern');
    expect(await call('message_human', { message: 'The strings are tuned.' })).toContain('marked as unread');
    await end();
    expect(await call('message_human', { message: 'And so is the night.' })).toContain('marked as unread');
    const left = () =>
      events.messages
        .filter(
          ({ event, data }) =>
            event === 'message' && /The strings are tuned\.|And so is the night\./.test(JSON.stringify(data)),
        )
        .map(({ data }) => data);
    await events.until(() => left().length >= 2);
    expect(left()).toMatchObject([
      {
        sessionId,
        agentId: LYRA.agentId,
        role: 'assistant',
        status: 'complete',
        blocks: [{ kind: 'text', text: 'The strings are tuned.' }],
      },
      {
        sessionId,
        agentId: LYRA.agentId,
        role: 'assistant',
        status: 'complete',
        blocks: [{ kind: 'text', text: 'And so is the night.' }],
      },
    ]);
    events.close();
  });

  it('ends the relay without waiting for a client', async () => {
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
