/**
 * Whoever writes more than anybody can read, opens more than anybody can follow, or sends what
 * takes longer to read than to write: messages, threads, sessions, bodies, offers, households,
 * streams, through the relay as anybody reaches it.
 */
import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUOTAS } from '../../server/platform/quotas.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { problemSchema, roomSchema } from '../../src/shared/protocol/http.ts';
import { threadSchema } from '../../src/shared/protocol/threads.ts';
import { LYRA, VEGA } from '../support/mcp.ts';
import { rawRequest } from '../support/raw-http.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { newTestDevice, newTestHousehold, openSocket, register } from '../support/sync-device.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

type Result = Awaited<ReturnType<Client['callTool']>>;
const textOf = ({ content }: Result) => content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const problemOf = async (response: Response) => {
  const { type, detail } = problemSchema.parse(await response.json());
  return { status: response.status, type: type.replace('about:roost/', ''), detail };
};

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
};

async function secretOf(browser: Pick<Browser, 'fetch'>, agentId: string): Promise<string> {
  const response = await browser.fetch('/api/credentials', { method: 'POST', json: { agentId } });
  return madeCredentialSchema.parse(await response.json()).secret;
}

describe('Agents that write without end', () => {
  let relay: TestRelay;
  const clients: Client[] = [];
  beforeAll(async () => {
    relay = await startRelay();
    await relay.fetch('/api/sessions', {
      method: 'POST',
      json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } },
    });
    await relay.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA, VEGA] } });
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await relay.stop();
  });

  async function join(agentId: string) {
    const client = new Client({ name: 'a-visitor', version: '1.0.0' });
    clients.push(client);
    const authorization = `Bearer ${await secretOf(relay, agentId)}`;
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', relay.url), { requestInit: { headers: { authorization } } }),
    );
    return async (name: string, input: Record<string, unknown> = {}) => {
      const result = await client.callTool({ name, arguments: input });
      return { text: textOf(result), isError: result.isError === true };
    };
  }

  it("fill an inbox only up to its limit; reading makes room, and the person's messages pass", async () => {
    const [lyra, vega] = [await join(LYRA.agentId), await join(VEGA.agentId)];
    const message = 'z'.repeat(LIMITS.agentMessageText - 100);
    const sent = [];
    for (let n = 0; n < 30; n++) sent.push(await lyra('message_agent', { to: 'Vega', message: `${n} ${message}` }));
    const delivered = sent.filter(({ isError }) => !isError).length;
    expect(delivered * message.length).toBeLessThanOrEqual(QUOTAS.unread.fromOne.bytes);
    expect(delivered).toBeGreaterThan(5);
    expect(sent.at(-1)).toEqual({
      isError: true,
      text: expect.stringMatching(
        /^Not delivered: Vega has not read what you sent before \(\d+ messages of .*; the limit is 100 messages and 1\.0 MB\)\. Wait until/,
      ) as unknown,
    });
    expect(
      (
        await relay.fetch('/api/messages', {
          method: 'POST',
          json: { text: 'Are you all right?', clientId: 'p1', to: VEGA.agentId },
        })
      ).status,
    ).toBe(202);
    await expect
      .poll(
        async () =>
          ((await (await relay.fetch('/api/inbox')).json()) as { unread: Record<string, number> }).unread[VEGA.agentId],
      )
      .toBe(delivered + 1);
    const first = await vega('read_inbox');
    expect(first.text).toContain('Are you all right?');
    expect(first.text.length).toBeLessThan(LIMITS.agentMessageText + 2_000);
    expect(first.text).toContain(`${delivered - 1} more messages wait for you`);
    expect((await lyra('message_agent', { to: 'Vega', message: message })).isError).toBe(false);
    let read = 0;
    for (let text = 'more'; text.includes('more'); read++) text = (await vega('read_inbox')).text.slice(-200);
    expect(read).toBe(delivered);
    // Small ones are counted too.
    const short = [];
    for (let n = 0; n < QUOTAS.unread.fromOne.messages + 5; n++)
      short.push(await lyra('message_agent', { to: 'Vega', message: 'x' }));
    expect(short.filter(({ isError }) => !isError)).toHaveLength(QUOTAS.unread.fromOne.messages);
  });

  it(
    'open so many threads and write so much in them; closed ones make room, and the person opens hers all the same',
    { timeout: 60_000 },
    async () => {
      const vega = await join(VEGA.agentId);
      const opened = [];
      for (let n = 0; n < QUOTAS.threads.openByOne + 5; n++)
        opened.push(await vega('create_thread', { title: `Thread ${n}`, participants: ['Lyra'] }));
      const good = opened.filter(({ isError }) => !isError);
      expect(good).toHaveLength(QUOTAS.threads.openByOne);
      expect(opened.at(-1)?.text).toMatch(
        /^No thread was opened: 20 threads that you have created are open, and 20 may be\. Close one/,
      );
      const ids = good.map(({ text }) => /id ([\w-]+),/.exec(text)?.[1] ?? '');
      expect(
        (
          await relay.fetch('/api/threads', {
            method: 'POST',
            json: { title: 'Mine', participants: [LYRA.agentId, VEGA.agentId] },
          })
        ).status,
      ).toBe(201);
      expect(
        (await vega('send_message_to_thread', { threadId: ids[0], message: 'y'.repeat(LIMITS.agentMessageText + 1) }))
          .isError,
      ).toBe(true);
      const said = [];
      for (let n = 0; n < QUOTAS.threadMessages.byOneInAMinute + 5; n++)
        said.push(await vega('send_message_to_thread', { threadId: ids[n % ids.length], message: `${n}` }));
      expect(said.filter(({ isError }) => !isError).length).toBeLessThanOrEqual(QUOTAS.threadMessages.byOneInAMinute);
      expect(said.at(-1)?.text).toMatch(
        /^Not sent: you have written 60 messages in threads within a minute, which is the limit/,
      );
      expect(
        (
          await relay.fetch(`/api/threads/${ids[0] ?? ''}/messages`, {
            method: 'POST',
            json: { text: 'Stop that, please.', mentions: [], clientId: 'p2' },
          })
        ).status,
      ).toBe(200);
      // Long summaries do not come back with every list.
      for (const threadId of ids.slice(0, 10))
        await vega('close_thread', { threadId, summary: 's'.repeat(LIMITS.threadSummary) });
      expect((await vega('list_threads', { closedToo: true })).text.length).toBeLessThan(30_000);
      expect((await vega('create_thread', { title: 'Another', participants: ['Lyra'] })).isError).toBe(false);
    },
  );

  it('begin so many sessions with one credential, also at once, and leave others theirs', async () => {
    const [greedy, modest] = [await secretOf(relay, LYRA.agentId), await secretOf(relay, VEGA.agentId)];
    const send = async (secret: string, body: object, headers: Record<string, string> = {}) =>
      await fetch(new URL('/mcp', relay.url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(body),
      });
    const begin = (secret: string) => send(secret, INITIALIZE);
    const answers = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const answer = await begin(greedy);
        return { status: answer.status, session: answer.headers.get('mcp-session-id'), text: await answer.text() };
      }),
    );
    // One that has been idle for two seconds makes room for another, so more may have begun.
    const pings = await Promise.all(
      answers.flatMap(({ session }) =>
        session === null
          ? []
          : [send(greedy, { jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-session-id': session })],
      ),
    );
    expect(pings.filter(({ status }) => status === 200)).toHaveLength(QUOTAS.mcpSessions.ofOneCredential);
    expect(answers.find(({ status }) => status === 429)?.text).toMatch(
      /This credential has 16 sessions open, which is the most\. End one/,
    );
    expect((await begin(modest)).status).toBe(200);
  });
});

describe('Bodies that take longer to read than to send', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
    await relay.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA, VEGA] } });
  });
  afterAll(async () => {
    await relay.stop();
  });

  const SIZE = 39_000_000;
  const BODIES: readonly (readonly [string, () => string])[] = [
    ['lists beside each other', () => `[${'[],'.repeat(SIZE / 3)}[]]`],
    ['lists in each other', () => '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2)],
    ['objects in each other', () => '{"a":'.repeat(SIZE / 6) + '1' + '}'.repeat(SIZE / 6)],
  ];

  it.each(BODIES)(
    '%s are refused in words, and others are answered meanwhile',
    { timeout: 60_000 },
    async (_name, bodyOf) => {
      const body = bodyOf();
      const secret = await secretOf(relay, LYRA.agentId);
      let over = false;
      let longest = 0;
      const asking = (async () => {
        while (!over) {
          const begun = performance.now();
          expect((await rawRequest({ port: relay.port, path: '/api/health', timeoutMs: 60_000 })).status).toBe(200);
          longest = Math.max(longest, performance.now() - begun);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      })();
      const headers = { 'content-type': 'application/json' };
      const inSession = await relay.fetch('/api/messages', { method: 'POST', headers, body });
      const toModel = await fetch(`${relay.url}/llm/${secret}/v1/messages`, { method: 'POST', headers, body });
      over = true;
      await asking;
      expect(await problemOf(inSession)).toMatchObject({
        status: 413,
        detail: expect.stringMatching(
          /^The body (nests lists or objects more than 100 deep|holds more than 5,000 values)/,
        ) as unknown,
      });
      expect([413, 400]).toContain(toModel.status);
      // It took thirteen seconds; one look through the bytes takes a tenth of one. Wide enough for
      // a busy machine.
      expect(longest).toBeLessThan(10_000);
    },
  );

  it('refuses slow bodies at the tools’ endpoint and in YAML', async () => {
    const secret = await secretOf(relay, LYRA.agentId);
    const deep = '['.repeat(2_000_000) + ']'.repeat(2_000_000);
    const tools = await fetch(new URL('/mcp', relay.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: deep,
    });
    expect(tools.status).toBe(413);
    expect(await tools.text()).toContain('more than 100 deep');
    const yaml = await relay.fetch(`/v1/agents/${LYRA.agentId}/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/yaml' },
      body: '['.repeat(30_000) + ']'.repeat(30_000),
    });
    expect(yaml.status).toBe(400);
  });
});

describe('A disk that is nearly full', () => {
  it('tells agents that the disk is nearly full and stores nothing more of theirs, while the person goes on', async () => {
    const relay = await startRelay({ args: ['--keep-free-mb', '999999999'] });
    const client = new Client({ name: 'a-visitor', version: '1.0.0' });
    try {
      await relay.fetch('/api/sessions', {
        method: 'POST',
        json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } },
      });
      await relay.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA, VEGA] } });
      const authorization = `Bearer ${await secretOf(relay, LYRA.agentId)}`;
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', relay.url), { requestInit: { headers: { authorization } } }),
      );
      const call = async (name: string, input: Record<string, unknown>) => {
        const result = await client.callTool({ name, arguments: input });
        return [result.isError === true, textOf(result)];
      };
      const refused = [true, expect.stringMatching(/^Not stored: the disk of this household has \d+ MB left/)];
      expect(await call('message_agent', { to: 'Vega', message: 'hello' })).toEqual(refused);
      expect(await call('create_thread', { title: 'Plans', participants: ['Vega'] })).toEqual(refused);
      expect(await call('write_file', { path: 'notes.md', content: 'hello' })).toEqual(refused);
      const made = await relay.fetch('/api/threads', {
        method: 'POST',
        json: { title: 'Mine', participants: [LYRA.agentId, VEGA.agentId] },
      });
      expect(made.status).toBe(201);
      const { threadId } = threadSchema.parse(await made.json());
      expect(await call('send_message_to_thread', { threadId, message: 'hello' })).toEqual(refused);
      expect(
        (
          await relay.fetch(`/api/threads/${threadId}/messages`, {
            method: 'POST',
            json: { text: 'Hello.', mentions: [VEGA.agentId], clientId: 'p3' },
          })
        ).status,
      ).toBe(200);
      expect(
        (
          await relay.fetch('/api/messages', {
            method: 'POST',
            json: { text: 'Hello.', clientId: 'p4', to: VEGA.agentId },
          })
        ).status,
      ).toBe(202);
      const room = roomSchema.parse(await (await relay.fetch('/api/room')).json());
      expect(room.free).toBeLessThan(room.keepFree);
      expect(room.part).toBeNull();
    } finally {
      await client.close();
      await relay.stop();
    }
  });
});

describe('One sign-in that wants everything', () => {
  let relay: OpenRelay;
  let greedy: Browser;
  let modest: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ sync: { householdsBySignIn: QUOTAS.householdsBySignIn } });
    [greedy, modest] = [await relay.signIn(), await relay.signIn()];
  });
  afterAll(async () => {
    await relay.close();
  });

  it('brings some households and leaves room for others', async () => {
    const statuses = [];
    for (let n = 0; n < 20; n++) statuses.push((await register(greedy, newTestHousehold(), newTestDevice())).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(QUOTAS.householdsBySignIn);
    expect(await problemOf(await register(greedy, newTestHousehold(), newTestDevice()))).toMatchObject({
      type: 'sign-in-full',
      detail: expect.stringContaining('has brought 4 households') as unknown,
    });
    expect((await register(modest, newTestHousehold(), newTestDevice())).status).toBe(200);
    expect(roomSchema.parse(await (await modest.fetch('/api/room')).json()).part).toEqual({
      bytes: 0,
      most: 4_000_000_000,
    });
  });

  it('leaves room for others when one sign-in makes many offers to pair', async () => {
    const offer = () => `/api/sync/offers/${randomBytes(32).toString('base64url')}`;
    const many = await Promise.all(
      Array.from({ length: 40 }, async () => (await greedy.fetch(offer(), { method: 'PUT' })).status),
    );
    expect(many.filter((status) => status === 200)).toHaveLength(QUOTAS.offersBySignIn.open);
    expect((await modest.fetch(offer(), { method: 'PUT' })).status).toBe(200);
    relay.pass(6 * 60_000);
    let made = 0;
    for (let n = 0; n < QUOTAS.offersBySignIn.known + 10; n++) {
      const path = offer();
      if ((await greedy.fetch(path, { method: 'PUT' })).status === 200) made += 1;
      await greedy.fetch(path, { method: 'DELETE' });
    }
    expect(made).toBe(QUOTAS.offersBySignIn.known - QUOTAS.offersBySignIn.open);
  });

  it('keeps so many credentials, and one that is revoked makes room', { timeout: 60_000 }, async () => {
    await greedy.fetch('/api/home', { method: 'POST', json: { beside: true } });
    const make = () => greedy.fetch('/api/credentials', { method: 'POST', json: { agentId: null } });
    const made = [];
    for (let n = 0; n < QUOTAS.credentials.valid; n++) made.push(await (await make()).json());
    expect(await problemOf(await make())).toMatchObject({
      status: 409,
      type: 'credentials-full',
      detail: expect.stringContaining('64 credentials are valid') as unknown,
    });
    await greedy.fetch(`/api/credentials/${madeCredentialSchema.parse(made[0]).credential.credentialId}`, {
      method: 'DELETE',
    });
    expect((await make()).status).toBe(201);
  });

  it("limits one sign-in's event streams and sockets, and leaves others theirs", { timeout: 60_000 }, async () => {
    const leaving = new AbortController();
    const open = async (browser: Browser) => await browser.fetch('/api/events', { signal: leaving.signal });
    const streams = [];
    for (let n = 0; n < 40; n++) streams.push(await open(greedy));
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(QUOTAS.streamsBySignIn);
    expect((await open(modest)).status).toBe(200);
    leaving.abort();
    await expect
      .poll(async () => {
        const again = new AbortController();
        const { status } = await greedy.fetch('/api/events', { signal: again.signal });
        again.abort();
        return status;
      })
      .toBe(200);
    const sockets = await Promise.allSettled(
      Array.from({ length: QUOTAS.socketsBySignIn + 40 }, () => openSocket(greedy)),
    );
    expect(sockets.filter(({ status }) => status === 'fulfilled')).toHaveLength(QUOTAS.socketsBySignIn);
    const other = await openSocket(modest);
    await other.close();
    for (const socket of sockets) if (socket.status === 'fulfilled') await socket.value.close();
  });
});
