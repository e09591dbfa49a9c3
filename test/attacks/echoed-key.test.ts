/**
 * A model's server that says what it was sent, the relay's key with it: whoever joined with a
 * credential must not get it.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeyFilter } from '../../server/platform/key-filter.ts';
import { createAnthropicMind } from '../../server/agents/minds/index.ts';
import type { Store } from '../../server/store/index.ts';
import { startProxied, type Proxied } from '../support/proxied.ts';
import { createRandom } from '../support/random.ts';
import { createStorePlace, type StorePlace } from '../support/stores.ts';

/** With what JSON, addresses and base64 write otherwise. */
const KEY = 'sk-"top"/secret+of=the relay';
const WAYS: readonly (readonly [string, (key: string) => string])[] = [
  ['as it is', (key) => key],
  ['as JSON has it', (key) => JSON.stringify(key).slice(1, -1)],
  ['as an address has it', (key) => encodeURIComponent(key)],
  ['as hex', (key) => Buffer.from(key).toString('hex')],
  ...['', 'k', 'ke'].flatMap((before) =>
    (['base64', 'base64url'] as const).map(
      (form) =>
        [
          `as ${form} after ${before.length}`,
          (key: string) => Buffer.from(`${before}${key} and more`).toString(form),
        ] as const,
    ),
  ),
];
/** What is still there of it. */
const leaksIn = (text: string) =>
  WAYS.filter(([, write]) => text.includes(write(KEY).slice(4, 24))).map(([way]) => way);

let place: StorePlace;
let store: Store;
let server: Server;
let url: string;
let proxy: Proxied;
let secret: string;
let answer: (response: ServerResponse) => void = (response) => void response.end();
beforeAll(async () => {
  place = await createStorePlace();
  store = await place.open();
  server = createServer((request, response) => void request.resume().on('end', () => answer(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy = await startProxied({ store, relay: 'echo', upstream: { baseUrl: url, key: KEY, keyHeader: null } });
  secret = await proxy.join('a1');
});
afterAll(async () => {
  await proxy.close();
  await new Promise((resolve) => server.close(resolve));
  await store.close();
  await place.remove();
});
const ask = async (stream: boolean) => {
  const response = await fetch(`${proxy.url}/llm/${secret}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return { status: response.status, headers: JSON.stringify([...response.headers]), text: await response.text() };
};

it.each(WAYS)('withholds the key %s at any status', async (_way, write) => {
  for (const status of [200, 400, 404, 429, 500, 529]) {
    const said = JSON.stringify({ type: 'error', error: { type: 'api_error', message: 'You sent ¶' } }).replace(
      '¶',
      () => write(KEY),
    );
    answer = (response) =>
      response
        .writeHead(status, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(said),
          'anthropic-echo': encodeURIComponent(write(KEY)),
        })
        .end(said);
    const got = await ask(false);
    expect(got.status).toBe(status);
    expect([...leaksIn(got.text), ...leaksIn(got.headers)], String(status)).toEqual([]);
    expect(got.text).toContain('You sent ');
  }
});

it('withholds the key in a stream that is cut anywhere, and changes nothing else', async () => {
  for (const [, write] of WAYS) {
    const whole = Buffer.from(
      `event: ping\ndata: {"type":"ping","é":"${write(KEY)}"}\n\nevent: message_stop\ndata: {"type":"message_stop","half":"${write(KEY).slice(0, 9)}"}\n\n`,
    );
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const [at, to] = [40 + Math.floor(Math.random() * 20), 62];
      response.write(whole.subarray(0, at));
      setTimeout(() => {
        response.write(whole.subarray(at, to));
        setTimeout(() => response.end(whole.subarray(to)), 2);
      }, 2);
    };
    const { text } = await ask(true);
    expect(leaksIn(text)).toEqual([]);
    expect(text.startsWith('event: ping\ndata: {"type":"ping","é":"')).toBe(true);
    expect(text.endsWith(`"half":"${write(KEY).slice(0, 9)}"}\n\n`)).toBe(true);
  }
});

it('holds back only what may be the beginning of the key, however it is cut', () => {
  const random = createRandom(1);
  for (let round = 0; round < 300; round++) {
    const filter = createKeyFilter(KEY);
    const text = Array.from({ length: 12 }, () =>
      random() < 0.3 ? KEY : random() < 0.5 ? KEY.slice(0, Math.floor(random() * KEY.length)) : 'words of its own\n',
    ).join('');
    const pieces = filter.pieces();
    let passed = '';
    for (let at = 0; at < text.length;) {
      const next = at + 1 + Math.floor(random() * 30);
      passed += pieces.take(text.slice(at, next));
      at = next;
      if (text.slice(0, at).endsWith('\n')) expect(passed).toBe(filter.words(text.slice(0, at)));
    }
    passed += pieces.rest();
    expect(passed).toBe(text.replaceAll(KEY, '[key]'));
  }
  expect(createKeyFilter('ollama').words('ollama'), 'a word is no secret').toBe('ollama');
});

it('withholds the key in a compressed answer', async () => {
  answer = (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end(gzipSync(JSON.stringify({ said: KEY })));
  const got = await ask(false);
  expect(leaksIn(got.text)).toEqual([]);
});

it("keeps the key out of words, thoughts, calls and errors of the household's own mind", async () => {
  const mind = createAnthropicMind({ key: KEY, baseUrl: url, queue: { breaks: 0 } });
  answer = (response) => {
    const event = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    event('message_start', {
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: KEY,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    });
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for (const text of ['I was sent ', KEY.slice(0, 7), KEY.slice(7, 8), `${KEY.slice(8)}, `, KEY.slice(0, 5)])
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    event('content_block_stop', { index: 0 });
    event('content_block_start', { index: 1, content_block: { type: 'tool_use', id: 't', name: 'write', input: {} } });
    event('content_block_delta', {
      index: 1,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify({ text: KEY }) },
    });
    event('content_block_stop', { index: 1 });
    event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 2 } });
    event('message_stop', {});
    response.end();
  };
  let heard = '';
  const request = {
    model: 'm',
    system: 's',
    messages: [{ role: 'user' as const, blocks: [{ kind: 'text' as const, text: 'Hello' }] }],
    tools: [],
    maxTokens: 9,
    priority: 'team',
  } as const;
  const told = await mind.answer(request, {
    onText: (text) => void (heard += text),
    signal: new AbortController().signal,
  });
  expect(leaksIn(heard + JSON.stringify(told))).toEqual([]);
  expect(heard).toBe(`I was sent [key], ${KEY.slice(0, 5)}`);
  expect(JSON.stringify(told)).toContain(JSON.stringify(heard));
  for (const [, write] of WAYS) {
    answer = (response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          type: 'error',
          error: { type: 'invalid_request_error', message: `You sent ${write(KEY)}` },
        }),
      );
    expect(
      leaksIn(
        JSON.stringify(await mind.answer(request, { onText: () => undefined, signal: new AbortController().signal })),
      ),
    ).toEqual([]);
  }
  await mind.close();
});
