import { ProtocolError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import { problemSchema } from '../../../../src/shared/protocol/http.ts';
import { ERAS, LYRA, MIRA, openMcp, speaking, STATS, VEGA, type TestMcp } from '../../../support/mcp.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by-hand', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

describe('the relay as MCP server', () => {
  let place: StorePlace;
  let store: Store;
  let mcp: TestMcp;
  let lyra: string;
  beforeAll(async () => {
    place = await createStorePlace();
    store = await place.open();
    mcp = await openMcp(store, { bodyBytes: 10_000 });
    lyra = await mcp.secret(LYRA);
    await mcp.session('session-1');
  });
  afterAll(async () => {
    await mcp.close();
    await store.close();
    await place.remove();
  });
  const send = (body: unknown, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(mcp.url, {
      method,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const as = (secret: string) => ({ authorization: `Bearer ${secret}` });

  describe.each(ERAS)('to a client of the %s protocol', (era) => {
    const join = (secret = lyra) => mcp.client(secret, speaking(era));

    it('says what it is, and how to begin', async () => {
      const client = await join();
      expect(client.getProtocolEra()).toBe(era);
      expect(client.getServerVersion()).toMatchObject({ name: 'roost', version: '1.2.3' });
      expect(client.getInstructions()).toContain('roost://agent/instructions');
    });

    it('lists the tools that this agent has, with what they take', async () => {
      const { tools } = await (await join()).listTools();
      expect(tools.map(({ name }) => name)).toEqual(['note', 'look', 'break', 'linger']);
      expect(tools[0]).toMatchObject({
        description: 'Notes something.',
        inputSchema: {
          type: 'object',
          properties: {
            text: { type: 'string', maxLength: 100, description: 'what to note' },
            loud: { type: 'boolean' },
          },
          required: ['text'],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: false },
        _meta: { 'anthropic/alwaysLoad': true },
      });
      expect(tools[1]?.annotations?.readOnlyHint).toBe(true);
      const vegas = await join(await mcp.secret(VEGA));
      expect((await vegas.listTools()).tools.map(({ name }) => name)).toContain('vegas_own');
      expect(await vegas.callTool({ name: 'vegas_own' })).toMatchObject({ content: [{ type: 'text', text: 'yours' }] });
    });

    it('runs a tool once as the agent of the credential, each call as a run of its own', async () => {
      const client = await join();
      const before = mcp.notes.length;
      const results = [
        await client.callTool({ name: 'note', arguments: { text: 'one' } }),
        await client.callTool({ name: 'note', arguments: { text: 'two' } }),
      ];
      expect(results.map(({ content, isError }) => [content, isError ?? false])).toEqual([
        [[{ type: 'text', text: 'noted one' }], false],
        [[{ type: 'text', text: 'noted two' }], false],
      ]);
      const callers = mcp.notes.slice(before).map(({ caller }) => caller);
      expect(callers).toMatchObject(
        [1, 2].map(() => ({ agentId: LYRA.agentId, sessionId: 'session-1', kind: 'client' })),
      );
      expect(new Set(callers.map(({ run }) => run)).size).toBe(2);
      expect(await client.callTool({ name: 'look' }), 'a tool’s own error').toMatchObject({
        isError: true,
        content: [{ text: 'there is nothing to see' }],
      });
    });

    it('tells what does not fit, what there is not, and that something of ours broke', async () => {
      const client = await join();
      const before = mcp.notes.length;
      expect(await client.callTool({ name: 'note', arguments: { text: 7 } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/do not fit note.*text/s) }],
      });
      expect(await client.callTool({ name: 'note', arguments: { text: 'x', txt: 1, at: 2 } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('no argument "txt" or "at"; there are text') }],
      });
      for (const name of ['vegas_own', 'none_such'])
        await expect(client.callTool({ name })).rejects.toThrow(`There is no tool "${name}"`);
      const fault = await client.callTool({ name: 'break' }).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(ProtocolError);
      const id = /under (\w{8})\./.exec(String(fault))?.[1];
      expect(String(fault)).not.toContain('a fault of ours');
      expect(mcp.problems).toContainEqual({
        message: 'An MCP call failed.',
        fields: { id, error: new Error('a fault of ours') },
      });
      expect(mcp.notes).toHaveLength(before);
    });

    it('shows an agent its own state and how to live here', async () => {
      const client = await join();
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual([
        'roost://agent/state',
        'roost://agent/threads',
        'roost://agent/instructions',
      ]);
      const read = async (uri: string) => {
        const [content] = (await client.readResource({ uri })).contents;
        return content && 'text' in content ? content.text : '';
      };
      expect(JSON.parse(await read('roost://agent/state'))).toEqual({
        agentId: LYRA.agentId,
        name: 'Lyra',
        seat: 2,
        sessionId: 'session-1',
        sleeping: false,
        unread: 0,
        wakes: STATS,
      });
      const title = `What we read tonight, ${era}`;
      await mcp.threads.create(VEGA.agentId, { title, participantRefs: ['Lyra'] });
      await mcp.threads.create(VEGA.agentId, { title: 'Among others', participantRefs: ['Lead'] });
      const threads = await read('roost://agent/threads');
      expect(threads).toContain(title);
      expect(threads).not.toContain('Among others');
      expect(await read('roost://agent/instructions')).toMatch(/You are Lyra.*message_agent/s);
      await expect(read('roost://agent/secrets')).rejects.toThrow(/not found/i);
    });

    it('says that the agent is here when it calls or reads while a session runs, and not when it only looks around', async () => {
      const client = await join();
      const before = mcp.joined.length;
      await client.listTools();
      await client.listResources();
      expect(mcp.joined).toHaveLength(before);
      await client.callTool({ name: 'look' });
      await client.readResource({ uri: 'roost://agent/instructions' });
      expect(mcp.joined.slice(before)).toEqual([LYRA.agentId, LYRA.agentId]);
    });
  });

  it("answers a client that asks for the protocol's version", async () => {
    const client = await mcp.client(lyra, { versionNegotiation: { mode: 'auto' } });
    expect(client.getProtocolEra()).toBe('modern');
  });

  it('lets nobody in without a good credential, and says what to do', async () => {
    const revoked = await mcp.credentials.make(LYRA.agentId, '');
    await mcp.credentials.revoke(revoked.credential.credentialId);
    const wrong = [{}, { authorization: 'Basic x' }, { authorization: 'Bearer ' }, as('roost_x'), as(revoked.secret)];
    for (const headers of wrong)
      for (const method of ['POST', 'GET', 'DELETE']) {
        const response = await send(method === 'POST' ? INITIALIZE : undefined, headers, method);
        expect(response.status, `${method} ${JSON.stringify(headers)}`).toBe(401);
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="Roost"/);
        expect(problemSchema.parse(await response.json()).detail).toContain('The person makes one in Roost');
      }
    const refused = await send(LIST, as(revoked.secret));
    expect(problemSchema.parse(await refused.json()).detail).toContain('Trying again will not help');
    await expect(mcp.client(revoked.secret)).rejects.toThrow();
  });

  it('refuses a client in mid-session once its credential is revoked, and the agent’s other clients not', async () => {
    const { credential, secret } = await mcp.credentials.make(LYRA.agentId, '');
    const client = await mcp.client(secret);
    const other = await mcp.client(lyra);
    await client.listTools();
    await mcp.credentials.revoke(credential.credentialId);
    await expect(client.listTools()).rejects.toThrow(/401|not known here/);
    expect((await other.listTools()).tools).not.toHaveLength(0);
  });

  it('refuses a retired agent', async () => {
    const response = await send(INITIALIZE, as(await mcp.secret(MIRA)));
    expect(response.status).toBe(403);
    expect(problemSchema.parse(await response.json()).detail).toContain('retired');
  });

  it('gives a session to nobody but the credential that began it, and forgets it when it is ended', async () => {
    const begun = await send(INITIALIZE, as(lyra));
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const status = async (secret: string) => {
      const response = await send(LIST, { ...as(secret), ...session });
      await response.text();
      return response.status;
    };
    expect(await status(lyra)).toBe(200);
    expect(await status(await mcp.secret(LYRA)), 'another credential of the same agent').toBe(404);
    expect(await status(await mcp.secret(VEGA))).toBe(404);
    expect((await send(undefined, { ...as(lyra), ...session }, 'DELETE')).status).toBe(200);
    expect(await status(lyra)).toBe(404);
    expect((await send(LIST, as(lyra))).status, 'without a session').toBe(400);
  });

  it('makes place for a new session by ending the one that was longest unused, and no other', async () => {
    const small = await openMcp(store, { sessions: 2, sessionIdleMs: 0 });
    try {
      const secret = await small.secret(LYRA);
      const call = async (body: unknown, headers: Record<string, string> = {}) => {
        const response = await fetch(small.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...as(secret),
            ...headers,
          },
          body: JSON.stringify(body),
        });
        await response.text();
        return { status: response.status, session: { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' } };
      };
      const [first, second] = [await call(INITIALIZE), await call(INITIALIZE)];
      expect((await call(LIST, first.session)).status).toBe(200);
      const third = await call(INITIALIZE);
      expect(third.status).toBe(200);
      const statuses = [
        (await call(LIST, first.session)).status,
        (await call(LIST, second.session)).status,
        (await call(LIST, third.session)).status,
      ];
      expect(statuses).toEqual([200, 404, 200]);
    } finally {
      await small.close();
    }
    const full = await openMcp(store, { sessions: 1 });
    try {
      const secret = await full.secret(LYRA);
      await full.client(secret);
      await expect(full.client(secret), 'the only session was used just now').rejects.toThrow('Too many sessions');
    } finally {
      await full.close();
    }
  });

  it('answers what is no request of the protocol', async () => {
    expect((await send('{', as(lyra))).status).toBe(400);
    expect((await send(JSON.stringify({ ...LIST, params: { filler: 'x'.repeat(10_000) } }), as(lyra))).status).toBe(
      413,
    );
    expect((await send(LIST, { ...as(lyra), 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send(undefined, as(lyra), 'HEAD')).status).toBe(405);
    expect((await send(LIST, as(lyra), 'PUT')).status).toBe(405);
    expect((await send(INITIALIZE, { ...as(lyra), origin: 'https://elsewhere.example' })).status).toBe(403);
  });
});
