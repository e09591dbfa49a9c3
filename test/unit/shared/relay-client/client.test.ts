import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPageClient } from '../../../../src/shared/relay-client/page-client.ts';
import { createSender } from '../../../../src/shared/relay-client/client.ts';
import { listen, type Listening } from '../../../support/sse-relay.ts';

let server: Listening | null = null;
const seen: { method: string; url: string; body: string; type: string | undefined }[] = [];

/** A relay that gives one answer to everything. */
async function answering(status: number, body: unknown) {
  seen.length = 0;
  server = await listen((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        body: text,
        type: request.headers['content-type'],
      });
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return createPageClient({ fetch, baseUrl: server.url });
}

afterEach(async () => {
  await server?.close();
  server = null;
});

describe('the relay’s client', () => {
  it('asks as the relay expects and gives its answer', async () => {
    const client = await answering(202, { eventId: 7 });
    expect(await client.postMessage({ body: { text: 'hello', clientId: 'c1', to: 'a1' } })).toEqual({
      ok: true,
      value: { eventId: 7 },
    });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/api/messages',
        body: '{"text":"hello","clientId":"c1","to":"a1"}',
        type: 'application/json',
      },
    ]);
  });

  it('puts an agent’s id into an address whatever it holds', async () => {
    const client = await answering(202, {});
    await client.stop({ agentId: 'a/b?c' });
    await client.sleep({ agentId: 'ä' });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/agents/a%2Fb%3Fc/stop',
      'POST /api/agents/%C3%A4/sleep',
    ]);
  });

  it('takes an answer without a body for done', async () => {
    const client = await answering(204, undefined);
    expect(await client.endSession()).toEqual({ ok: true, value: null });
    expect(await client.ack({ body: { upTo: 4 } })).toEqual({ ok: true, value: null });
    expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'DELETE /api/sessions/current ',
      'POST /api/events/ack {"upTo":4}',
    ]);
  });

  it('hands on why the relay refuses, with the session that runs', async () => {
    const problem = {
      type: 'about:roost/session-active',
      title: 'A session runs',
      status: 409,
      detail: 'End it first.',
      sessionId: 's1',
    };
    const client = await answering(409, problem);
    const result = await client.startSession({
      body: { human: { name: 'Mira' }, lead: { name: 'Julian', soul: null, transcript: null } },
    });
    expect(result).toEqual({ ok: false, problem: { kind: 'refused', status: 409, problem, message: 'End it first.' } });
  });

  it('says what to do where this browser is not let in', async () => {
    const client = await answering(401, { type: 'about:roost/sign-in', title: 't', status: 401, detail: 'd' });
    expect(await client.health()).toMatchObject({
      ok: false,
      problem: { kind: 'locked-out', message: expect.stringContaining('open the link that it prints') },
    });
  });

  it('says what to do where nothing answers', async () => {
    const client = await answering(200, {});
    await server?.close();
    server = null;
    expect(await client.health()).toMatchObject({
      ok: false,
      problem: { kind: 'unreachable', message: expect.stringContaining('npm start') },
    });
  });

  it('tells an error of its own from a line that is broken', async () => {
    await answering(200, {});
    const client = createSender({ fetch, baseUrl: server?.url ?? '' });
    const broken = z.unknown().transform(() => {
      throw new TypeError('undefined is not a function');
    });
    await expect(client.answered({ method: 'GET', path: '/', timeout: 1_000 }, () => broken)).rejects.toThrow(
      'undefined is not a function',
    );
  });

  it('gives up on a relay that does not answer in time', async () => {
    server = await listen(() => undefined);
    const client = createPageClient({ fetch, baseUrl: server.url, times: { call: 30, heavy: 30 } });
    expect(await client.health()).toMatchObject({ ok: false, problem: { kind: 'timeout' } });
  });

  it('gives up on an answer that stops in the middle', async () => {
    server = await listen((_request, response) => response.writeHead(200, { 'content-length': '100' }).write('{'));
    const client = createPageClient({ fetch, baseUrl: server.url, times: { call: 30, heavy: 30 } });
    expect(await client.health()).toMatchObject({ ok: false, problem: { kind: 'timeout' } });
  });

  it.each([
    [200, 'not JSON'],
    [200, { status: 'ok' }],
    [502, '<h1>Bad gateway</h1>'],
  ])('refuses %i %j of another server as the relay’s answer', async (status, body) => {
    const client = await answering(status, body);
    expect(await client.health()).toMatchObject({ ok: false, problem: { kind: 'unreadable', status } });
  });

  it('reads and sets how the rehearsal behaves', async () => {
    const rehearsal = {
      seed: 1,
      delayMs: 0,
      wordMs: 0,
      fail: [1],
      silent: [],
      cut: [],
      nameless: [],
      sameName: [],
      leadIgnores: false,
    };
    const client = await answering(200, rehearsal);
    expect(await client.getRehearsal()).toEqual({ ok: true, value: rehearsal });
    expect(await client.putRehearsal({ body: rehearsal })).toEqual({ ok: true, value: rehearsal });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /api/rehearsal', 'PUT /api/rehearsal']);
  });

  it('lets a mistake of its own be seen', async () => {
    const client = createPageClient({ fetch: () => Promise.reject(new RangeError('a bug')), baseUrl: '' });
    await expect(client.health()).rejects.toThrow('a bug');
  });
});
