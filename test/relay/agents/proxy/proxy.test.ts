import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import { clientOf, REAL_KEY, SESSION, startProxied, type Proxied } from '../../../support/proxied.ts';
import { startScriptedModel, type ScriptedModel } from '../../../support/scripted-model.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

const hello = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Good morning.' }],
} satisfies Anthropic.MessageCreateParams;
/**
 * What the scripted model says it took, by the prices of the model asked for: 10 and 20 tokens, 3
 * read and 2 written.
 */
const TOKENS = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 3, cacheWriteTokens: 2 };
const COST = 10 * 2 + 20 * 10 + Math.ceil(3 * 0.1 + 2 * 2.5);

let place: StorePlace;
let store: Store;
let model: ScriptedModel;
beforeAll(async () => {
  place = await createStorePlace();
  store = await place.open();
  model = await startScriptedModel(() => [{ say: 'Good ' }, { say: 'morning 🌅.' }]);
});
afterAll(async () => {
  await model.close();
  await store.close();
  await place.remove();
});

let homes = 0;
let proxy: Proxied;
let secret: string;
/** How many requests had reached the model before. */
let before: number;
const sent = () => model.requests.slice(before);
beforeEach(async () => {
  model.follow(() => [{ say: 'Good ' }, { say: 'morning 🌅.' }]);
  proxy = await startProxied({
    store,
    relay: `proxy-${++homes}`,
    upstream: { baseUrl: model.url, key: REAL_KEY, keyHeader: null },
  });
  secret = await proxy.join('a1');
  before = model.requests.length;
});
afterEach(async () => {
  expect(proxy.errors).toEqual([]);
  await proxy.close();
});

const base = () => `${proxy.url}/llm/${secret}`;
const raw = (body: unknown = { ...hello, stream: true }, path = '/v1/messages') =>
  fetch(`${base()}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const refusalOf = async (asked: Promise<unknown>) => {
  const error = await asked.catch((reason: unknown) => reason);
  if (!(error instanceof Anthropic.APIError)) throw new Error(`not refused: ${String(error)}`);
  return error;
};
const today = async () => (await proxy.costs.report(1)).agents.find(({ agentId }) => agentId === 'a1')?.today;

describe.each(['current', 'first'] as const)('a client of the %s generation', (generation) => {
  it('streams through the proxy', async () => {
    const message = await clientOf(base(), generation).messages.stream(hello).finalMessage();
    expect(message.content).toMatchObject([{ text: 'Good ' }, { text: 'morning 🌅.' }]);
    expect(sent()).toHaveLength(1);
    await expect.poll(today).toMatchObject({ requests: 1, ...TOKENS, costMicroUsd: COST, estimated: false });
    expect(proxy.joined).toEqual(['a1']);
  });

  it('asks for whole answers through the proxy', async () => {
    const message = await clientOf(base(), generation).messages.create(hello);
    expect(message.content).toMatchObject([{ text: 'Good ' }, { text: 'morning 🌅.' }]);
    await expect.poll(today).toMatchObject({ requests: 1, ...TOKENS, costMicroUsd: COST });
  });

  it('counts tokens, which costs nothing, and asks which models there are', async () => {
    await proxy.configs.householdBudget(0);
    const client = clientOf(base(), generation);
    expect(await client.messages.countTokens({ model: hello.model, messages: hello.messages })).toEqual({
      input_tokens: 42,
    });
    expect(sent()[0]?.path).toBe('/v1/messages/count_tokens');
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
    expect(await today()).toMatchObject({ requests: 0 });
  });

  it('never shows its own key to the model, or the relay’s to the client', async () => {
    await clientOf(base(), generation).messages.stream(hello).finalMessage();
    const { headers } = sent()[0] ?? {};
    expect(headers).toMatchObject({
      'x-api-key': REAL_KEY,
      authorization: `Bearer ${REAL_KEY}`,
      'anthropic-version': generation === 'first' ? '2023-06-01' : '2026-10-21',
    });
    expect(JSON.stringify(headers)).not.toContain('a-key-of-the-client');
    expect(JSON.stringify(headers)).not.toContain(secret);
  });
});

describe('a base address', () => {
  it.each(['', '/v1', '/v1/'])('accepts a base address that ends in “%s”', async (ending) => {
    const client = clientOf(`${base()}${ending}`);
    expect((await client.messages.create(hello)).content).toMatchObject([{ text: 'Good ' }, { text: 'morning 🌅.' }]);
    expect(await client.messages.countTokens({ model: hello.model, messages: hello.messages })).toEqual({
      input_tokens: 42,
    });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
    expect(await client.models.retrieve('vendor/model:8b')).toMatchObject({ type: 'model', id: 'vendor/model:8b' });
    expect(sent().map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages/count_tokens']);
  });

  it('accepts a base address of a client that adds no version', async () => {
    const response = await raw(hello, '/messages');
    expect(response.status).toBe(200);
    expect(sent().map(({ path }) => path)).toEqual(['/v1/messages']);
  });
});

describe('a request', () => {
  it('forwards a request unchanged, with betas, query and a trailing system message', async () => {
    const body =
      '{ "stream":true,"model":"m", "max_tokens":1,  "messages":[{"role":"user","content":"Hi"},{"role":"system","content":"Be brief."}] }';
    const headers = {
      'content-type': 'application/json',
      'anthropic-beta': 'one,two',
      'x-app': 'cli',
      cookie: 'roost=1',
      'x-forwarded-for': '10.0.0.1',
      origin: proxy.url,
    };
    await (await fetch(`${base()}/v1/messages?beta=true`, { method: 'POST', headers, body })).text();
    const [request] = sent();
    expect(request?.path).toBe('/v1/messages?beta=true');
    expect(request?.body.messages.map(({ role }) => role)).toEqual(['user', 'system']);
    expect(request?.headers).toMatchObject({
      'anthropic-beta': 'one,two',
      'x-app': 'cli',
      'anthropic-version': '2023-06-01',
      'content-length': String(Buffer.byteLength(body)),
    });
    for (const name of ['cookie', 'x-forwarded-for', 'origin']) expect(request?.headers).not.toHaveProperty(name);
  });

  it('refuses an unknown or revoked credential, or one of a retired agent, at once', async () => {
    const unknown = await refusalOf(clientOf(`${proxy.url}/llm/roost_nobody`).messages.create(hello));
    expect(unknown).toMatchObject({ status: 401, type: 'authentication_error' });
    expect(unknown.headers?.get('x-should-retry')).toBe('false');
    await proxy.revoke(secret);
    expect(await refusalOf(clientOf(base()).messages.create(hello))).toMatchObject({ status: 401 });
    const retired = await proxy.join('a3');
    expect(await refusalOf(clientOf(`${proxy.url}/llm/${retired}`).messages.create(hello))).toMatchObject({
      status: 403,
      message: expect.stringContaining('Vega is retired') as unknown,
    });
    expect(sent()).toHaveLength(0);
  });

  it('refuses an oversized request or one without JSON in the API’s own shape', async () => {
    for (const body of ['{"stream":', '[]', '"text"']) {
      const response = await raw(body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { type: 'error', error: { type: 'invalid_request_error' } },
      ]);
    }
    const large = new Blob([new Uint8Array(LIMITS.bodyBytes + 1)]).stream();
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: large, duplex: 'half' };
    const response = await fetch(`${base()}/v1/messages`, init);
    expect([response.status, await response.json()]).toMatchObject([413, { error: { type: 'request_too_large' } }]);
    expect(sent()).toHaveLength(0);
  });

  it('forwards a request of five million bytes byte for byte, however it is written and sent', async () => {
    const got: Buffer[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        got.push(Buffer.concat(chunks));
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"type":"error"}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const through = await startProxied({
      store,
      relay: `proxy-${++homes}`,
      upstream: { baseUrl: `http://127.0.0.1:${address.port}`, key: REAL_KEY, keyHeader: null },
    });
    try {
      // Whoever reads this and writes it again writes something else: blanks, escapes, a key twice,
      // digits that no number keeps.
      const odd = String.raw`{ "model":"claude-sonnet-5-5",  "max_tokens" : 1e2, "model" :"claude-sonnet-5-5",
        "seed": 12345678901234567890.10, "\u0061b":"\u00e9 é \ud800 🌅", "messages":[{"role":"user","content":"`;
      const head = Buffer.from(odd);
      const tail = Buffer.from('"}] }\n');
      const room = 5_000_000 - head.length - tail.length;
      const words = Buffer.from('wörds '.repeat(room / 7) + 'x'.repeat(room % 7));
      const body = Buffer.concat([head, words, tail]);
      const url = `${through.url}/llm/${await through.join('a1')}/v1/messages`;
      const headers = { 'content-type': 'application/json' };
      const whole: RequestInit = { method: 'POST', headers, body };
      // In pieces of no known length.
      const inPieces: RequestInit & { duplex: 'half' } = {
        method: 'POST',
        headers,
        body: new Blob([new Uint8Array(body)]).stream(),
        duplex: 'half',
      };
      for (const init of [whole, inPieces]) expect((await fetch(url, init)).status).toBe(400);
      const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
      expect(got.map((bytes) => [bytes.length, hashOf(bytes)])).toEqual([
        [5_000_000, hashOf(body)],
        [5_000_000, hashOf(body)],
      ]);
      expect(through.errors).toEqual([]);
    } finally {
      await through.close();
      server.close();
      server.closeAllConnections();
    }
  });

  it('returns the model’s own words of a refusal, and charges nothing', async () => {
    model.follow(() => ({ fail: { status: 400, type: 'invalid_request_error', message: 'max_tokens: too many' } }));
    expect(await refusalOf(clientOf(base()).messages.create(hello))).toMatchObject({
      status: 400,
      message: expect.stringContaining('max_tokens: too many') as unknown,
    });
    expect(await today()).toMatchObject({ requests: 0 });
  });

  it('never shows the relay’s key, also where the model repeats it', async () => {
    model.follow(() => ({ fail: { status: 403, type: 'permission_error', message: `${REAL_KEY} may not do this` } }));
    const response = await raw();
    expect(await response.text()).toContain('[key] may not do this');
    expect(JSON.stringify([...response.headers])).not.toContain(REAL_KEY);
  });

  it('tells a wrong key of the relay from a wrong credential of the client', async () => {
    model.follow(() => ({ fail: { status: 401, type: 'authentication_error', message: `invalid key ${REAL_KEY}` } }));
    const refused = await refusalOf(clientOf(base()).messages.create(hello));
    expect(refused).toMatchObject({
      status: 400,
      message: expect.stringContaining('did not accept the relay’s own API key') as unknown,
    });
    expect(refused.message).not.toContain(REAL_KEY);
  });
});

describe('a daily budget', () => {
  it('refuses requests over the daily budget before sending, without a retry, and says why', async () => {
    await proxy.configs.agentBudget('a1', COST / 1_000_000);
    const client = clientOf(base(), 'current', { maxRetries: 3 });
    await client.messages.create(hello);
    await expect.poll(today).toMatchObject({ requests: 1 });
    for (const ask of [() => client.messages.create(hello), () => client.messages.stream(hello).finalMessage()])
      expect(await refusalOf(ask())).toMatchObject({
        status: 402,
        type: 'billing_error',
        message: expect.stringContaining('Lyra’s daily budget of $0.000226 for model requests is used up') as unknown,
      });
    expect(sent()).toHaveLength(1);
    await proxy.configs.agentBudget('a1', 1);
    await client.messages.create(hello);
    expect(sent()).toHaveLength(2);
  });

  it('admits no more of eight simultaneous requests than the daily budget', async () => {
    await proxy.configs.householdBudget((COST * 2.5) / 1_000_000);
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => clientOf(base()).messages.create(hello)));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(sent()).toHaveLength(3);
  });
});

describe('an answer that breaks off', () => {
  it('counts an interrupted answer at its highest cost, as an estimate, and shows it cut to the client', async () => {
    model.follow(() => [{ say: 'x'.repeat(300) }, { cut: true }]);
    await expect(clientOf(base()).messages.stream(hello).finalMessage()).rejects.toThrow();
    await expect.poll(today).toMatchObject({
      requests: 1,
      inputTokens: 10,
      outputTokens: 100,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
      estimated: true,
    });
  });

  it('because the client leaves ends the model’s work, and is counted', async () => {
    let gone: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (gone = resolve));
    model.follow(() => [{ say: 'x'.repeat(30) }, { until: left }]);
    const stream = clientOf(base()).messages.stream(hello);
    await new Promise<void>((resolve) => stream.once('text', () => resolve()));
    stream.abort();
    await expect(stream.finalMessage()).rejects.toThrow();
    await expect.poll(today).toMatchObject({ requests: 1, outputTokens: 100, estimated: true });
    // The scripted model counts who is still there.
    await expect.poll(async () => (await fetchOpen()).open).toBe(1);
    gone();
  });

  it('because the credential is revoked ends at once', async () => {
    const never = new Promise<void>(() => undefined);
    model.follow(() => [{ say: 'one' }, { until: never }]);
    const stream = clientOf(base()).messages.stream(hello);
    await new Promise<void>((resolve) => stream.once('text', () => resolve()));
    await proxy.revoke(secret);
    await expect(stream.finalMessage()).rejects.toThrow();
  });
});

/** How many requests the model has open, this one included. */
async function fetchOpen(): Promise<{ open: number }> {
  const follow = model.requests.length;
  model.follow(() => ({ fail: { status: 400, type: 'x', message: 'x' } }));
  await fetch(`${model.url}/v1/messages`, { method: 'POST', body: JSON.stringify({ model: 'm', messages: [] }) }).then(
    (response) => response.text(),
  );
  return { open: model.requests[follow]?.open ?? 0 };
}

describe('without a model', () => {
  it('says how to connect a model when there is none', async () => {
    const other = await startProxied({ store, relay: `proxy-${++homes}`, upstream: null });
    const refused = await refusalOf(clientOf(`${other.url}/llm/${await other.join('a1')}`).messages.create(hello));
    expect(refused).toMatchObject({
      status: 400,
      message: expect.stringContaining('Connect one on Roost’s page') as unknown,
    });
    await other.close();
  });

  it('says that no model can be reached, and allows a retry', async () => {
    const other = await startProxied({
      store,
      relay: `proxy-${++homes}`,
      upstream: { baseUrl: 'http://127.0.0.1:9', key: REAL_KEY, keyHeader: null },
    });
    const refused = await refusalOf(clientOf(`${other.url}/llm/${await other.join('a1')}`).messages.create(hello));
    expect(refused).toMatchObject({
      status: 502,
      message: expect.stringContaining('127.0.0.1:9 cannot be reached') as unknown,
    });
    expect(refused.headers?.get('x-should-retry')).toBe('true');
    await other.close();
  });
});

it('requests are of the session that runs', async () => {
  await clientOf(base()).messages.create(hello);
  await expect
    .poll(async () => (await proxy.costs.report(1)).sessions)
    .toMatchObject([{ sessionId: SESSION, spent: { requests: 1 } }]);
});
