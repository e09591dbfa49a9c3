import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NUMBERS } from '../../../../src/shared/domain/setting-table.ts';
import { ERAS, LYRA, openMcp, speaking, VEGA, type TestMcp } from '../../../support/mcp.ts';
import { storeFor } from '../../../support/store-for.ts';

const STATE = { uri: 'roost://agent/state' };
const LONGEST_MS = NUMBERS.sleep_wait_seconds.otherwise * 1_000;
/** ms: so that progress comes often, and a client that hears none gives up soon. */
const PROGRESS_EVERY_MS = 20;
const CLIENT_PATIENCE_MS = 1_000;

const textOf = (result: Awaited<ReturnType<Client['callTool']>>) =>
  result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const store = storeFor();

describe.each(ERAS)('a sleeping agent’s calls over MCP, from a client of the %s protocol', (era) => {
  let mcp: TestMcp;
  let client: Client;
  beforeEach(async () => {
    mcp = await openMcp(store(), { progressEveryMs: PROGRESS_EVERY_MS, revokeGraceMs: 10 });
    client = await join();
    await mcp.session('session-1');
  });
  afterEach(() => mcp.close());

  const join = async (secret?: string) => await mcp.client(secret ?? (await mcp.secret(LYRA)), speaking(era));
  const note = (text: string, by = client) => by.callTool({ name: 'note', arguments: { text } });
  const held = (count: number) => expect.poll(() => mcp.pauses.waiting()).toBe(count);
  const noted = () => mcp.notes.map(({ text }) => text);

  it('holds calls until the agent is woken, and then runs each once', async () => {
    await mcp.sleep(LYRA);
    const calls = [note('a'), client.readResource(STATE), note('b')];
    await held(3);
    expect(noted()).toEqual([]);
    const vegas = await join(await mcp.secret(VEGA));
    expect(textOf(await note('v', vegas)), 'others are not held').toBe('noted v');
    await mcp.wake(LYRA);
    await Promise.all(calls);
    expect(noted().sort()).toEqual(['a', 'b', 'v']);
    expect(mcp.pauses.waiting()).toBe(0);
  });

  it('holds also listing calls, while the handshake and pings are answered', async () => {
    await mcp.sleep(LYRA);
    const another = await join();
    if (era === 'legacy') await another.ping();
    const requests = [client.listTools(), client.listResources(), another.listResourceTemplates()];
    await held(3);
    await mcp.wake(LYRA);
    const [tools, resources] = await Promise.all(requests);
    expect(tools).toMatchObject({ tools: expect.any(Array) as unknown });
    expect(resources).toMatchObject({ resources: expect.any(Array) as unknown });
    expect(mcp.pauses.waiting()).toBe(0);
  });

  it('keep an impatient client there by progress', async () => {
    await mcp.sleep(LYRA);
    const progress: number[] = [];
    const call = client.callTool(
      { name: 'note', arguments: { text: 'patient' } },
      { timeout: CLIENT_PATIENCE_MS, resetTimeoutOnProgress: true, onprogress: (each) => progress.push(each.progress) },
    );
    // Longer than it would wait in silence.
    await expect.poll(() => progress.length).toBeGreaterThan((1.5 * CLIENT_PATIENCE_MS) / PROGRESS_EVERY_MS);
    await mcp.wake(LYRA);
    expect(textOf(await call)).toBe('noted patient');
    expect(progress).toEqual(progress.map((_, i) => i + 1));
    expect(noted()).toEqual(['patient']);
  });

  it('keep it there as well by progress while a tool takes its time', async () => {
    await mcp.sleep(LYRA);
    const progress: { readonly progress: number; readonly message?: string | undefined }[] = [];
    const call = client.callTool(
      { name: 'linger' },
      { timeout: CLIENT_PATIENCE_MS, resetTimeoutOnProgress: true, onprogress: (each) => progress.push(each) },
    );
    await held(1);
    const running = mcp.lingering();
    await mcp.wake(LYRA);
    const release = await running;
    await expect.poll(() => progress.filter(({ message }) => message === 'under way').length).toBeGreaterThan(2);
    release();
    expect(textOf(await call)).toBe('lingered');
    expect(progress.map((each) => each.progress)).toEqual(progress.map((_, i) => i + 1));
  });

  it('end with "asleep, try again" after the longest wait, having done nothing, and succeed when they are repeated', async () => {
    await mcp.sleep(LYRA);
    const [call, read] = [note('again'), client.readResource(STATE).catch((error: unknown) => String(error))];
    await held(2);
    mcp.timers.advance(LONGEST_MS - 1);
    expect(mcp.pauses.waiting()).toBe(2);
    mcp.timers.advance(1);
    const late = await call;
    expect(late.isError).toBe(true);
    expect(textOf(late)).toMatch(/^asleep, try again: .* 600 s /);
    expect(await read).toContain('asleep, try again');
    expect(noted()).toEqual([]);
    const repeated = note('again');
    await held(1);
    await mcp.wake(LYRA);
    expect(textOf(await repeated)).toBe('noted again');
    expect(JSON.stringify(await client.readResource(STATE))).toContain('Lyra');
    expect(noted()).toEqual(['again']);
  });

  it('releases hundreds of calls once each, whatever coincides', async () => {
    const clients = [client, await join(), await join()];
    await mcp.sleep(LYRA);
    const texts = Array.from({ length: 200 }, (_, i) => `call ${i}`);
    const calls = texts.map((text, i) => note(text, clients[i % clients.length]));
    await held(200);
    await Promise.all([mcp.sleep(LYRA), mcp.wake(LYRA), mcp.wake(LYRA)]);
    const results = await Promise.all(calls);
    expect(results.map(textOf)).toEqual(texts.map((text) => `noted ${text}`));
    expect(noted().sort()).toEqual([...texts].sort());
    expect(mcp.pauses.waiting()).toBe(0);
  });

  it('end with "session ended" when the session does, and none waits in the next', async () => {
    await mcp.sleep(LYRA);
    const [call, read] = [note('late'), client.readResource(STATE).catch((error: unknown) => String(error))];
    await held(2);
    await mcp.session('session-2');
    const ended = await call;
    expect(ended.isError).toBe(true);
    expect(textOf(ended)).toMatch(/^session ended/);
    expect(await read).toContain('session ended');
    expect(mcp.pauses.waiting()).toBe(0);
    expect(textOf(await note('anew'))).toBe('noted anew');
    expect(mcp.notes.map(({ text, caller }) => [text, caller.sessionId])).toEqual([['anew', 'session-2']]);
  });

  it('never runs a call whose client has given up or disconnected', async () => {
    await mcp.sleep(LYRA);
    const cancel = new AbortController();
    const cancelled = client
      .callTool({ name: 'note', arguments: { text: 'cancelled' } }, { signal: cancel.signal })
      .catch(() => 'given up');
    const going = await join();
    const gone = note('gone', going).catch(() => 'gone');
    const kept = note('kept');
    await held(3);
    cancel.abort();
    await held(2);
    await going.close();
    await held(1);
    await mcp.wake(LYRA);
    expect([await cancelled, await gone, textOf(await kept)]).toEqual(['given up', 'gone', 'noted kept']);
    expect(noted()).toEqual(['kept']);
  });

  it('end at once when the credential is revoked, having done nothing', async () => {
    const { credential, secret } = await mcp.credentials.make(LYRA.agentId, '');
    const other = await join(secret);
    await mcp.sleep(LYRA);
    const [call, kept] = [note('revoked', other), note('kept')];
    await held(2);
    await mcp.credentials.revoke(credential.credentialId);
    const revoked = await call;
    expect(revoked.isError).toBe(true);
    expect(textOf(revoked)).toMatch(/^credential revoked/);
    await expect(note('again', other)).rejects.toThrow();
    await held(1);
    await mcp.wake(LYRA);
    await kept;
    expect(noted()).toEqual(['kept']);
  });

  it('runs no released call when another process has revoked the credential meanwhile', async () => {
    const { credential, secret } = await mcp.credentials.make(LYRA.agentId, '');
    const other = await join(secret);
    await mcp.sleep(LYRA);
    const calls = [note('revoked', other), note('kept')];
    await held(2);
    await mcp.credentialsElsewhere.revoke(credential.credentialId);
    await mcp.wake(LYRA);
    expect((await Promise.all(calls)).map(textOf)).toEqual([
      expect.stringMatching(/^credential revoked/),
      'noted kept',
    ]);
    expect(noted()).toEqual(['kept']);
  });

  it('finish where they were under way when it fell asleep', async () => {
    const running = mcp.lingering();
    const call = client.callTool({ name: 'linger' });
    const release = await running;
    await mcp.sleep(LYRA);
    release();
    expect(textOf(await call)).toBe('lingered');
  });
});

describe('a session of an older client', () => {
  it('ends the stream of a call that the client cancels', async () => {
    const mcp = await openMcp(store());
    try {
      await mcp.session('session-1');
      await mcp.sleep(LYRA);
      const authorization = `Bearer ${await mcp.secret(LYRA)}`;
      const send = (message: Record<string, unknown>, headers: Record<string, string> = {}) =>
        fetch(mcp.url, {
          method: 'POST',
          headers: {
            authorization,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        });
      const begun = await send({
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by-hand', version: '1' } },
      });
      await begun.text();
      const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
      const call = await send(
        { id: 2, method: 'tools/call', params: { name: 'note', arguments: { text: 'never' } } },
        session,
      );
      await expect.poll(() => mcp.pauses.waiting()).toBe(1);
      const cancelled = await send({ method: 'notifications/cancelled', params: { requestId: 2 } }, session);
      expect(cancelled.status).toBe(202);
      expect(await call.text()).not.toContain('result');
      expect(mcp.pauses.waiting()).toBe(0);
    } finally {
      await mcp.close();
    }
  });
});
