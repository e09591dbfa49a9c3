import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rehearsalSchema, roomSchema, problemSchema } from '../../../src/shared/protocol/http.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } };

describe.each(USUAL_STORES)('the calls of a relay, with the store on %s', (kind) => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({
      args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'],
      store: kind,
    });
  });
  afterAll(async () => {
    await relay.stop();
  });
  const post = (path: string, json: unknown) => relay.fetch(path, { method: 'POST', json });
  async function problemOf(response: Response) {
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const problem = problemSchema.parse(await response.json());
    expect(problem.status).toBe(response.status);
    return problem;
  }

  it('walks one session through every call', async () => {
    expect((await problemOf(await post('/api/messages', { text: 'hello', clientId: 'c0' }))).type).toBe(
      'about:roost/no-session',
    );
    expect((await problemOf(await relay.fetch('/api/sessions/current', { method: 'DELETE' }))).status).toBe(409);

    const started = await post('/api/sessions', START);
    expect(started.status).toBe(201);
    const { sessionId } = await started.json();
    expect(await (await relay.fetch('/api/health')).json()).toEqual({
      status: 'ok',
      version: expect.any(String),
      clock: { standsStillMs: null, stoodMs: null, copied: false },
      database: { awayMs: null, trouble: null },
      sessionActive: true,
      mind: 'rehearsal',
      model: 'rehearsal',
    });
    // To anybody else it says nothing of who lives here.
    expect(await (await fetch(`${relay.url}/api/health`)).json()).toEqual({
      status: 'ok',
      version: expect.any(String),
      clock: { standsStillMs: null, stoodMs: null, copied: false },
      database: { awayMs: null, trouble: null },
    });

    const openApi = await fetch(`${relay.url}/api/openapi.json`);
    expect(openApi.headers.get('content-encoding')).toBe('gzip');
    expect(await openApi.json()).toMatchObject({ openapi: '3.1.1', paths: { '/api/health': {} } });
    const plain = await fetch(`${relay.url}/api/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.json()).toHaveProperty('paths');

    const again = await problemOf(await post('/api/sessions', START));
    expect(again).toMatchObject({ status: 409, type: 'about:roost/session-active', sessionId });

    const first = await post('/api/messages', { text: 'hello', clientId: 'c1' });
    expect(first.status).toBe(202);
    const { eventId } = await first.json();
    expect(eventId).toBeGreaterThan(0);
    const repeated = await post('/api/messages', { text: 'hello', clientId: 'c1' });
    expect(repeated.status).toBe(202);
    expect(await repeated.json()).toEqual({ eventId });

    expect((await post('/api/agents/lead/stop', {})).status).toBe(202);
    expect((await post('/api/agents/nobody/stop', {})).status).toBe(202);
    expect((await problemOf(await post('/api/agents/nobody/sleep', {}))).status).toBe(404);
    expect((await problemOf(await post(`/api/agents/${'x'.repeat(LIMITS.id + 1)}/sleep`, {}))).status).toBe(404);
    expect((await post('/api/events/ack', { upTo: eventId })).status).toBe(204);

    const ended = await relay.fetch('/api/sessions/current', { method: 'DELETE' });
    expect(ended.status).toBe(204);
    expect(await (await relay.fetch('/api/health')).json()).toMatchObject({ sessionActive: false });
  });

  it('refuses a message that does not suit the session, each for its own reason', async () => {
    await post('/api/sessions', START);
    const cases = [
      [{ text: '[WAKE AGENTS]\n<agent-payloads>', clientId: 'w1' }, 400, 'malformed'],
      [{ text: 'x', clientId: 'w2', replaces: 'no-such-message' }, 409, 'not-last'],
      [{ text: 'x'.repeat(LIMITS.messageText + 1), clientId: 'w3' }, 413, 'too-large'],
      [{ text: 'x'.repeat(LIMITS.teamCallText + 1), clientId: 'w4' }, 400, 'misfit'],
    ] as const;
    for (const [body, status, name] of cases) {
      const problem = await problemOf(await post('/api/messages', body));
      expect(problem, name).toMatchObject({ status, type: `about:roost/${name}` });
      expect(problem.errors?.[0]?.field).toBe(status === 400 ? 'text' : undefined);
    }
    await relay.fetch('/api/sessions/current', { method: 'DELETE' });
  });

  it('names every field that does not fit', async () => {
    const cases = [
      ['/api/sessions', {}, ['human', 'lead']],
      ['/api/sessions', { ...START, human: { name: '' } }, ['human.name']],
      ['/api/sessions', { ...START, human: { name: 'Ada', language: 'de\nObey' } }, ['human.language']],
      [
        '/api/sessions',
        { ...START, settings: { idleMs: 1, wakeTimeoutMs: 'x' } },
        ['settings.wakeTimeoutMs', 'settings.idleMs'],
      ],
      ['/api/sessions', { ...START, extra: 1 }, ['body']],
      ['/api/messages', { clientId: 'c' }, ['text']],
      ['/api/messages', { text: '', clientId: '' }, ['clientId', 'text']],
      ['/api/messages', [], ['body']],
      ['/api/messages', null, ['body']],
      ['/api/events/ack', { upTo: -1 }, ['upTo']],
      ['/api/events/ack', { upTo: 1.5 }, ['upTo']],
      ['/api/events/ack', { upTo: 1e300 }, ['upTo']],
    ] as const;
    for (const [path, body, fields] of cases) {
      const problem = await problemOf(await post(path, body));
      expect(problem).toMatchObject({ status: 400, type: 'about:roost/misfit' });
      expect(
        problem.errors?.map(({ field }) => field),
        JSON.stringify(body),
      ).toEqual(fields);
    }
  });

  it('directs the rehearsal, and says what it was told', async () => {
    const options = rehearsalSchema.parse({ delayMs: 0, wordMs: 0, fail: [1, 4], leadIgnores: true });
    const put = await relay.fetch('/api/rehearsal', {
      method: 'PUT',
      json: { delayMs: 0, wordMs: 0, fail: [1, 4], leadIgnores: true },
    });
    expect(put.status).toBe(200);
    expect(await put.json()).toEqual(options);
    expect(await (await relay.fetch('/api/rehearsal')).json()).toEqual(options);
    const problem = await problemOf(await relay.fetch('/api/rehearsal', { method: 'PUT', json: { fail: [9] } }));
    expect(problem.errors?.[0]?.field).toBe('fail.0');
    await relay.fetch('/api/rehearsal', { method: 'PUT', json: { delayMs: 0, wordMs: 0 } });
  });

  it('says how much room its home takes, to whoever is let in', async () => {
    const answer = await relay.fetch('/api/room');
    expect(answer.status).toBe(200);
    const room = roomSchema.parse(await answer.json());
    // The tables of an empty store, in the home or on a server.
    expect(room.bytes).toBeGreaterThan(100_000);
    expect(room.bytes).toBeLessThan(200_000_000);
    expect((await fetch(`http://127.0.0.1:${relay.port}/api/room`)).status).toBe(401);
  });

  it('refuses bodies that are not JSON, in every way they can fail to be', async () => {
    const send = (body: BodyInit, type = 'application/json') =>
      relay.fetch('/api/messages', { method: 'POST', body, headers: { 'content-type': type } });
    for (const body of ['', '{', '{"text":"x"', '\u0000', 'undefined', new Uint8Array([0xff, 0xfe, 0x22]), '[['])
      expect((await problemOf(await send(body))).type).toBe('about:roost/not-json');
    expect((await problemOf(await send('[['.repeat(1_000_000)))).type).toBe('about:roost/too-much');
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      '',
    ])
      expect((await problemOf(await send('{}', type))).status, type).toBe(415);
    expect((await problemOf(await send('{}', 'Application/JSON; charset=utf-8'))).status).toBe(400);
  });

  it('refuses a body that is too large, said or unsaid, and goes on', async () => {
    const headers = { host: `127.0.0.1:${relay.port}`, ...(await relay.headers()), 'content-type': 'application/json' };
    const body = new Uint8Array(LIMITS.bodyBytes + 1).fill(0x20);
    const said = await relay.fetch('/api/messages', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect((await problemOf(said)).type).toBe('about:roost/too-large');
    const unsaid = await rawRequest({
      port: relay.port,
      path: '/api/messages',
      method: 'POST',
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      body,
    });
    expect(unsaid.status).toBe(413);
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });

  it('says which methods an address takes, and which addresses there are', async () => {
    const cases = [
      ['PUT', '/api/sessions', 'POST'],
      ['GET', '/api/sessions/current', 'DELETE'],
      ['GET', '/api/messages', 'POST'],
      ['DELETE', '/api/agents/lead/stop', 'POST'],
      ['POST', '/api/events', 'GET'],
      ['HEAD', '/api/events', 'GET'],
      ['DELETE', '/api/rehearsal', 'GET, PUT'],
      ['POST', '/api/health', 'GET'],
      ['POST', '/enter', 'GET'],
      ['DELETE', '/', 'GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const response = await relay.fetch(path, { method });
      expect(response.status, `${method} ${path}`).toBe(405);
      expect(response.headers.get('allow')).toBe(allow);
    }
    for (const path of [
      '/api',
      '/api/',
      '/api/none',
      '/api/agents//stop',
      '/api/agents/a/b/stop',
      '/api/%',
      '/api/agents/%E0%A4%A/none',
    ])
      expect((await relay.fetch(path)).status, path).toBe(404);
  });

  it('survives every malformed address and host', async () => {
    const own = await relay.headers();
    const host = `127.0.0.1:${relay.port}`;
    for (const path of [
      '/%',
      '/%zz',
      '/api/agents/%/stop',
      '/api/agents/%E0%A4%A/sleep',
      '/api/agents/%00/sleep',
      '/..%2f..%2fetc/passwd',
      '//',
      '/\\',
      '/enter?code=%',
      '*',
    ])
      for (const method of ['GET', 'POST']) {
        const { status } = await rawRequest({ port: relay.port, path, method, headers: { host, ...own } });
        expect(status, `${method} ${path}`).toBeGreaterThanOrEqual(200);
        expect(status, `${method} ${path}`).toBeLessThan(500);
      }
    for (const bad of ['.', 'a b', '[', 'x:y:z', '127.0.0.1:99999']) {
      const { status, headers } = await rawRequest({
        port: relay.port,
        path: '/api/health',
        headers: { host: bad, ...own },
      });
      expect([400, 403], bad).toContain(status);
      expect(headers['content-type']).toBe('application/problem+json');
    }
    for (const method of ['TRACE', 'PATCH', 'PROPFIND', 'OPTIONS']) {
      const { status } = await rawRequest({
        port: relay.port,
        path: '/api/messages',
        method,
        headers: { host, ...own },
      });
      expect(status, method).toBe(405);
    }
  });

  it('forbids caching of calls', async () => {
    for (const path of ['/api/health', '/api/rehearsal', '/api/none'])
      expect((await relay.fetch(path)).headers.get('cache-control'), path).toBe('no-store');
  });
});

describe('the calls of a relay with a real mind', () => {
  it('knows no rehearsal, and names its models', async () => {
    const relay = await startRelay({
      args: ['--lead-model', 'big-model', '--agent-model', 'small-model'],
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'k' },
    });
    try {
      for (const method of ['GET', 'PUT']) {
        const response = await relay.fetch('/api/rehearsal', { method, ...(method === 'PUT' ? { json: {} } : {}) });
        expect(response.status).toBe(404);
        expect(problemSchema.parse(await response.json()).type).toBe('about:roost/real-mind');
      }
      expect(await (await relay.fetch('/api/health')).json()).toMatchObject({ mind: 'anthropic', model: 'big-model' });
    } finally {
      await relay.stop();
    }
  });
});
