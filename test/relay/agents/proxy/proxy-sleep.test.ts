import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import { clientOf, REAL_KEY, SESSION, startProxied, type Proxied } from '../../../support/proxied.ts';
import { createRandom } from '../../../support/random.ts';
import { startScriptedModel, type ScriptedModel } from '../../../support/scripted-model.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

const hello = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Good morning.' }],
} satisfies Anthropic.MessageCreateParams;
const SEEDS = 6;

let place: StorePlace;
let store: Store;
let model: ScriptedModel;
beforeAll(async () => {
  place = await createStorePlace();
  store = await place.open();
  model = await startScriptedModel(() => [{ say: 'Awake.' }]);
});
afterAll(async () => {
  await model.close();
  await store.close();
  await place.remove();
});

let homes = 0;
let proxy: Proxied;
let secret: string;
let before: number;
const sent = () => model.requests.slice(before);
beforeEach(async () => {
  model.follow(() => [{ say: 'Awake.' }]);
  proxy = await startProxied({
    store,
    relay: `sleep-${++homes}`,
    upstream: { baseUrl: model.url, key: REAL_KEY, keyHeader: null },
    pingMs: 20,
  });
  secret = await proxy.join('a1');
  before = model.requests.length;
});
afterEach(async () => {
  expect(proxy.errors).toEqual([]);
  expect(proxy.pauses.waiting()).toBe(0);
  await proxy.close();
});

const base = () => `${proxy.url}/llm/${secret}`;
const client = () => clientOf(base());
const sleep = () => proxy.pauses.set(SESSION, 'a1', true, 'human');
const wake = () => proxy.pauses.set(SESSION, 'a1', false, 'human');
const waiting = (count: number) => expect.poll(() => proxy.pauses.waiting(), { interval: 5 }).toBe(count);
/**
 * For a request that may be refused before anybody looks at it: what it ends with is looked at
 * later.
 */
const held = <Asked extends Promise<unknown>>(asked: Asked): Asked => {
  asked.catch(() => undefined);
  return asked;
};
const refusalOf = async (asked: Promise<unknown>) => {
  const error = await asked.catch((reason: unknown) => reason);
  if (!(error instanceof Anthropic.APIError)) throw new Error(`not refused: ${String(error)}`);
  return error;
};
const whole = () => client().messages.create(hello);
const streamed = () => client().messages.stream(hello).finalMessage();
const counting = () => client().messages.countTokens({ model: hello.model, messages: hello.messages });
const raw = (signal?: AbortSignal) =>
  fetch(`${base()}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ ...hello, stream: true }),
    ...(signal ? { signal } : {}),
  });

const WAYS = [
  ['a streaming request', streamed],
  ['a request for a whole answer', whole],
  ['a count of tokens', counting],
] as const;

describe.each(WAYS)('while its agent sleeps, %s', (_what, ask) => {
  it('waits without reaching the model, and continues once', async () => {
    await sleep();
    const asked = held(ask());
    await waiting(1);
    expect(sent()).toHaveLength(0);
    await wake();
    await asked;
    expect(sent()).toHaveLength(1);
  });

  it('tells a waiting program that the session ended', async () => {
    await sleep();
    const asked = held(ask());
    await waiting(1);
    proxy.pauses.end(SESSION);
    expect((await refusalOf(asked)).message).toContain('The session ended while Lyra was asleep');
    expect(sent()).toHaveLength(0);
  });

  it('asks a program to try again after the longest wait, and serves the repeat', async () => {
    proxy.configs.sleepWait(0.05);
    await sleep();
    expect(await refusalOf(ask())).toMatchObject({
      type: 'overloaded_error',
      message: expect.stringContaining('Lyra is asleep, try again') as unknown,
    });
    expect(sent()).toHaveLength(0);
    await wake();
    await ask();
    expect(sent()).toHaveLength(1);
  });

  it('sends nothing when the credential is revoked during the wait', async () => {
    await sleep();
    const asked = held(ask());
    await waiting(1);
    await proxy.revoke(secret);
    expect(await refusalOf(asked)).toMatchObject({
      type: 'authentication_error',
      message: expect.stringContaining('revoked') as unknown,
    });
    await wake();
    expect(sent()).toHaveLength(0);
  });
});

it('says when to try again after too long a wait, which the official client does by itself', async () => {
  proxy.configs.sleepWait(0.05);
  await sleep();
  const refused = await refusalOf(whole());
  expect(refused.status).toBe(529);
  expect(refused.headers?.get('x-should-retry')).toBe('true');
  const patient = held(clientOf(base(), 'current', { maxRetries: 1 }).messages.create(hello));
  await waiting(1);
  await waiting(0);
  await wake();
  await patient;
  expect(sent()).toHaveLength(1);
});

it('keeps a waiting stream alive by pings, and then forwards the model’s stream byte for byte', async () => {
  const direct = await (
    await fetch(`${model.url}/v1/messages`, { method: 'POST', body: JSON.stringify({ ...hello, stream: true }) })
  ).text();
  await sleep();
  const response = await raw();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.split('event: ping\ndata: {"type":"ping"}\n\n').length < 4) text += (await reader?.read())?.value ?? '';
  await wake();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) text += piece.value;
  // The scripted model numbers its answers.
  const plain = (stream: string) => stream.replaceAll(/msg_\d+/g, 'msg');
  expect(plain(text.replaceAll('event: ping\ndata: {"type":"ping"}\n\n', ''))).toBe(plain(direct));
});

it('reports a refusal of the model after a wait as an error in the stream', async () => {
  model.follow(() => ({ fail: { status: 400, type: 'invalid_request_error', message: 'no such thing' } }));
  await sleep();
  const asked = held(streamed());
  await waiting(1);
  await wake();
  expect(await refusalOf(asked)).toMatchObject({
    type: 'invalid_request_error',
    message: expect.stringContaining('no such thing') as unknown,
  });
});

it('a budget that is used up when the agent is woken stops the request then', async () => {
  await sleep();
  const asked = [held(streamed()), held(whole())];
  await waiting(2);
  await proxy.configs.householdBudget(0);
  await wake();
  for (const each of asked)
    expect(await refusalOf(each)).toMatchObject({
      type: 'billing_error',
      message: expect.stringContaining('The household’s daily budget') as unknown,
    });
  expect(sent()).toHaveLength(0);
});

it('a client that leaves lets go of its wait, and its request never reaches the model', async () => {
  await sleep();
  const leaving = new AbortController();
  const stream = await raw(leaving.signal);
  const plain = held(client().messages.create(hello, { signal: leaving.signal }));
  await waiting(2);
  leaving.abort();
  await expect(stream.text()).rejects.toThrow();
  await expect(plain).rejects.toThrow();
  await waiting(0);
  await wake();
  await whole();
  expect(sent()).toHaveLength(1);
});

it('does not hold other agents', async () => {
  await sleep();
  await clientOf(`${proxy.url}/llm/${await proxy.join('a2')}`).messages.create(hello);
  expect(sent()).toHaveLength(1);
});

it('an answer under way finishes', async () => {
  let go: () => void = () => undefined;
  model.follow(() => [{ say: 'One ' }, { until: new Promise<void>((resolve) => (go = resolve)) }, { say: 'two.' }]);
  const stream = client().messages.stream(hello);
  await new Promise<void>((resolve) => stream.once('text', () => resolve()));
  await sleep();
  go();
  expect((await stream.finalMessage()).content).toHaveLength(2);
  await wake();
});

it('holds an agent that starts asleep from its first request on', async () => {
  await proxy.configs.startsPaused('a2');
  const asked = clientOf(`${proxy.url}/llm/${await proxy.join('a2')}`).messages.create(hello);
  await waiting(1);
  expect(sent()).toHaveLength(0);
  await proxy.pauses.set(SESSION, 'a2', false, 'human');
  await asked;
});

it.each(Array.from({ length: SEEDS }, (_none, seed) => seed))(
  'races of sleeping, waking and asking lose nothing and send nothing twice (seed %i)',
  async (seed) => {
    const random = createRandom(seed);
    let asked = 0;
    const asks: Promise<unknown>[] = [];
    const pause = () => new Promise((resolve) => setTimeout(resolve, Math.floor(random() * 4)));
    for (let step = 0; step < 25; step++) {
      const what = random();
      if (what < 0.25) void sleep();
      else if (what < 0.5) void wake();
      else if (what < 0.75) asks.push((asked++, held(random() < 0.5 ? streamed() : whole())));
      else await pause();
    }
    await wake();
    await Promise.all(asks);
    expect(sent()).toHaveLength(asked);
  },
);
