import { createServer, type ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKeyFilter } from '../../../../server/platform/key-filter.ts';
import { requestHeaders, responseHeaders } from '../../../../server/agents/proxy/upstream.ts';
import { createJsonReader, createStreamReader } from '../../../../server/agents/proxy/answer.ts';
import type { Store } from '../../../../server/store/index.ts';
import { REAL_KEY, startProxied, type Proxied } from '../../../support/proxied.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

const START = {
  type: 'message_start',
  message: {
    model: 'm-1',
    usage: {
      input_tokens: 7,
      output_tokens: 1,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_1h_input_tokens: 3 },
    },
  },
};
const SAID = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'Grüße 🌅, "usage": {"output_tokens": 9999}' },
};
const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 33 } };
const sse = (events: readonly object[], end = '\n', named = true) =>
  events
    .map(
      (event) =>
        `${named && 'type' in event ? `event: ${String(event.type)}${end}` : ''}data: ${JSON.stringify(event)}${end}${end}`,
    )
    .join('');

describe('the usage of a stream', () => {
  const text = sse([START, SAID, SAID, END, { type: 'message_stop' }]);
  const whole = {
    usage: { model: 'asked', inputTokens: 7, outputTokens: 33, cacheReadTokens: 5, cacheWriteTokens: 4 },
    hourCacheWrites: 3,
    searches: 0,
    terms: {},
    whole: true,
  };

  it('reads the same usage however the stream is torn', () => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const reader = createStreamReader('asked');
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        edges.slice(1).forEach((edge, i) => reader.read(bytes.subarray(edges[i], edge)));
        expect(reader.took()).toEqual(whole);
      }),
    );
  });

  it.each([
    ['with CRLF', sse([START, SAID, END], '\r\n')],
    ['without names of events', sse([START, SAID, END], '\n', false)],
    [
      'with comments and what is no JSON between',
      sse([START]) + ': still here\n\ndata: [DONE]\n\ndata: {"type"\n\n' + sse([END]),
    ],
    ['with pings of null', sse([{ type: 'ping' }, START, { type: 'message_delta', usage: null }, END])],
  ])('reads the usage %s', (_what, stream) => {
    const reader = createStreamReader('asked');
    reader.read(Buffer.from(stream));
    expect(reader.took()).toEqual(whole);
  });

  it('uses the last report of each figure', () => {
    const reader = createStreamReader('asked');
    reader.read(
      Buffer.from(
        sse([
          START,
          END,
          { type: 'message_delta', usage: { input_tokens: 100, output_tokens: 40, cache_read_input_tokens: 50 } },
        ]),
      ),
    );
    expect(reader.took()?.usage).toEqual({ ...whole.usage, inputTokens: 100, outputTokens: 40, cacheReadTokens: 50 });
  });

  it('marks the usage of an interrupted stream as partly unknown', () => {
    const reader = createStreamReader('asked');
    const thought = { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'x'.repeat(30) } };
    const call = { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: 'y'.repeat(31) } };
    reader.read(Buffer.from(sse([START, thought, call])));
    expect(reader.took()).toEqual({ ...whole, usage: { ...whole.usage, outputTokens: 1 }, whole: false });
  });

  it('reads unknown usage from a stream without any, and none from a refused one', () => {
    expect(createStreamReader('asked').took()).toBeNull();
    const reader = createStreamReader('asked');
    reader.read(Buffer.from(sse([{ type: 'error', error: { type: 'overloaded_error', message: 'later' } }])));
    expect(reader.took()).toEqual({
      usage: { model: 'asked', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      whole: true,
    });
  });

  it('reads terms, searches and totals from the stream', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      speed: 'fast',
      service_tier: 'priority',
      inference_geo: 'us',
      server_tool_use: { web_search_requests: 3 },
      iterations: [
        { type: 'message', input_tokens: 10, output_tokens: 5 },
        { type: 'compaction', input_tokens: 700, output_tokens: 30 },
      ],
    };
    const reader = createStreamReader('asked');
    reader.read(Buffer.from(sse([START, { type: 'message_delta', usage }])));
    expect(reader.took()).toMatchObject({
      usage: { inputTokens: 710, outputTokens: 35 },
      searches: 3,
      terms: { fast: true, priority: true, resident: true },
    });
  });
});

describe('the usage of a whole answer', () => {
  it('reads the usage from JSON, for the requested model, whatever the answer names', () => {
    const reader = createJsonReader('asked');
    for (const byte of Buffer.from(JSON.stringify(START.message))) reader.read(Uint8Array.of(byte));
    expect(reader.took()).toMatchObject({
      usage: { model: 'asked', inputTokens: 7, outputTokens: 1 },
      hourCacheWrites: 3,
    });
  });

  it.each(['', 'null', '{"input_tokens":42}', '{"usage":"free"}'])('reads no usage from %j', (text) => {
    const reader = createJsonReader('asked');
    reader.read(Buffer.from(text));
    expect(reader.took()).toBeNull();
  });
});

describe('headers', () => {
  const key = REAL_KEY;
  const first = new Headers({ 'x-api-key': 'own', 'anthropic-version': '2023-06-01' });
  const current = new Headers({ authorization: 'Bearer own', 'anthropic-version': '2026-10-21' });
  const keys = (sent: Headers, upstream: Parameters<typeof requestHeaders>[1]) => {
    const { authorization, 'x-api-key': apiKey } = requestHeaders(sent, upstream);
    return [authorization, apiKey];
  };

  it('carry the key to Anthropic’s own as the client’s generation does', () => {
    for (const baseUrl of [null, 'https://api.anthropic.com']) {
      expect(keys(first, { key, keyHeader: null, baseUrl })).toEqual([undefined, key]);
      expect(keys(current, { key, keyHeader: null, baseUrl })).toEqual([`Bearer ${key}`, undefined]);
    }
  });

  it('carry it in both forms to other servers, or as the person has set it', () => {
    expect(keys(first, { key, keyHeader: null, baseUrl: 'http://127.0.0.1:1' })).toEqual([`Bearer ${key}`, key]);
    expect(keys(first, { key, keyHeader: 'bearer', baseUrl: null })).toEqual([`Bearer ${key}`, undefined]);
    expect(keys(current, { key, keyHeader: 'x-api-key', baseUrl: null })).toEqual([undefined, key]);
    expect(keys(current, { key: null, keyHeader: null, baseUrl: 'http://127.0.0.1:1' })).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('forwards headers of an answer except connection headers, cookies, and what repeats the key', () => {
    const sent = {
      'content-type': 'a/b',
      'request-id': 'req_1',
      'anthropic-ratelimit-requests-remaining': '9',
      'retry-after': '3',
      connection: 'close',
      'transfer-encoding': 'chunked',
      'set-cookie': ['a=b'],
      'anthropic-organization-id': `of ${key}`,
    };
    expect(responseHeaders(sent, createKeyFilter(key))).toEqual({
      'content-type': 'a/b',
      'request-id': 'req_1',
      'anthropic-ratelimit-requests-remaining': '9',
      'retry-after': '3',
    });
  });
});

describe('an upstream of its own kind', () => {
  let place: StorePlace;
  let store: Store;
  let answer: (response: ServerResponse) => void = () => undefined;
  const upstream = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  let url = '';
  let proxy: Proxied;
  let homes = 0;
  beforeAll(async () => {
    place = await createStorePlace();
    store = await place.open();
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const address = upstream.address();
    url = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
  });
  afterAll(async () => {
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await store.close();
    await place.remove();
  });
  afterEach(async () => {
    expect(proxy.errors).toEqual([]);
    await proxy.close();
  });
  async function ask(init: RequestInit = {}): Promise<Response> {
    proxy = await startProxied({
      store,
      relay: `parts-${++homes}`,
      upstream: { baseUrl: `${url}/base/`, key: REAL_KEY, keyHeader: null },
    });
    return await fetch(`${proxy.url}/llm/${await proxy.join('a1')}/v1/messages`, {
      method: 'POST',
      body: '{"model":"m","stream":true}',
      ...init,
    });
  }

  it("forwards an answer byte for byte, however torn, below the upstream's own path", async () => {
    const bytes = Buffer.concat([
      Buffer.from(sse([START, SAID], '\r\n')),
      Buffer.from([0xff, 0xfe, 0, 10]),
      Buffer.from(sse([END]) + 'data: no line break at the end'),
    ]);
    let path = '';
    answer = (response) => {
      path = response.req.url ?? '';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let at = 0;
      const next = () => {
        if (at >= bytes.length) return void response.end();
        response.write(bytes.subarray(at, (at += 17)));
        setImmediate(next);
      };
      next();
    };
    expect(Buffer.from(await (await ask()).arrayBuffer()).equals(bytes)).toBe(true);
    expect(path).toBe('/base/v1/messages');
    await expect.poll(async () => (await proxy.costs.report(1)).today).toMatchObject({ requests: 1, outputTokens: 33 });
  });

  it('sends no faster than the client reads', async () => {
    const MOST = 200_000_000;
    const piece = Buffer.alloc(65_536, 'x');
    let sent = 0;
    let full: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => (full = resolve));
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let idle: NodeJS.Timeout | undefined;
      const fill = () => {
        clearTimeout(idle);
        while (sent < MOST) {
          sent += piece.length;
          if (!response.write(piece)) break;
        }
        if (sent >= MOST) return full();
        idle = setTimeout(full, 300);
        response.once('drain', fill);
      };
      fill();
    };
    const leaving = new AbortController();
    const response = await ask({ signal: leaving.signal });
    await stalled;
    expect(sent).toBeLessThan(MOST / 2);
    leaving.abort();
    await expect(response.text()).rejects.toThrow();
  });

  it('whose redirect would carry the key elsewhere is not followed', async () => {
    answer = (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' }).end();
    const response = await ask({ redirect: 'manual' });
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { error: { message: expect.stringContaining('Check its address') as unknown } },
    ]);
  });

  it('reports an upstream that disconnects before it answers', async () => {
    answer = (response) => void response.destroy();
    expect([(await ask()).status]).toEqual([502]);
  });
});
