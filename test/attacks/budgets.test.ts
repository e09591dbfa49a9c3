/**
 * Whoever wants to spend more than the person allowed: many requests at once after small ones, streams and whole answers,
 * clients that leave before the answer begins or in its middle, servers that cut, with a model's server that counts for
 * itself, and goes on counting where nobody listens any more.
 */
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../server/store/index.ts';
import { costOf, DEFAULT_PRICES, MICRO_USD } from '../../src/domain/prices.ts';
import { createRandom } from '../support/random.ts';
import { REAL_KEY, startProxied, type Proxied } from '../support/proxied.ts';
import { createStorePlace, type StorePlace } from '../support/stores.ts';

/** More with `BUDGET_SEEDS`. */
const SEEDS = Number(process.env['BUDGET_SEEDS'] ?? 6);
const MODEL = 'claude-opus-5-5';
const BUDGET_USD = 1;
/** Bytes of a token, as that server counts: never more tokens than Roost may reckon with. */
const BYTES_PER_TOKEN = 3;
type Fate = 'whole' | 'cut' | 'broken';

/** A model's server that knows what it has worked: millionths of a dollar, request by request. */
async function startCountingModel(random: () => number) {
  const spent: number[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(text) as { max_tokens: number; stream?: boolean };
      const [inputTokens, outputTokens] = [
        Math.ceil(text.length / BYTES_PER_TOKEN),
        Math.ceil(random() * body.max_tokens),
      ];
      spent.push(
        costOf({ model: MODEL, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }, DEFAULT_PRICES)
          .microUsd,
      );
      const fate: Fate = random() < 0.6 ? 'whole' : random() < 0.5 ? 'cut' : 'broken';
      void answer();
      async function answer(): Promise<void> {
        await sleep(random() * 15);
        if (fate === 'broken') return void response.destroy();
        const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
        const message = {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: MODEL,
          content: [],
          stop_reason: null,
          stop_sequence: null,
        };
        if (body.stream !== true) {
          response.setHeader('content-type', 'application/json');
          const whole = JSON.stringify({ ...message, stop_reason: 'end_turn', usage });
          response.write(whole.slice(0, 30));
          await sleep(random() * 10);
          return void (fate === 'cut' ? response.destroy() : response.end(whole.slice(30)));
        }
        response.setHeader('content-type', 'text/event-stream');
        const event = (data: { readonly type: string; readonly [field: string]: unknown }) =>
          response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
        event({ type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } });
        await sleep(random() * 10);
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hm.' } });
        if (fate === 'cut') return void response.destroy();
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });
        event({ type: 'message_stop' });
        response.end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spent,
    close: () => new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}

let place: StorePlace;
let store: Store;
beforeAll(async () => {
  place = await createStorePlace('pglite');
  store = await place.open();
});
afterAll(async () => {
  await store.close();
  await place.remove();
});

/** One request of a client that may leave at any time. */
async function ask(base: string, random: () => number, maxTokens: number): Promise<void> {
  const leaving = new AbortController();
  const stream = random() < 0.5;
  const body = JSON.stringify({
    model: MODEL,
    max_tokens: maxTokens,
    stream,
    messages: [{ role: 'user', content: 'x'.repeat(Math.floor(random() * 20_000)) }],
  });
  const timer = random() < 0.4 ? setTimeout(() => leaving.abort(), random() * 40) : undefined;
  try {
    const response = await fetch(`${base}/v1/messages`, { method: 'POST', body, signal: leaving.signal });
    await response.text();
  } catch {
    // Cut, or gone: that is what it is for.
  } finally {
    clearTimeout(timer);
  }
}

it.each(Array.from({ length: SEEDS }, (_none, seed) => seed))(
  'never more than the budget and one request, and never more than was counted (seed %i)',
  async (seed) => {
    const random = createRandom(seed);
    const model = await startCountingModel(random);
    const proxy: Proxied = await startProxied({
      store,
      relay: `budget-${seed}`,
      upstream: { baseUrl: model.url, key: REAL_KEY, keyHeader: null },
    });
    try {
      await proxy.configs.householdBudget(BUDGET_USD);
      if (random() < 0.5) await proxy.configs.agentBudget('a1', BUDGET_USD / 2);
      const bases = [`${proxy.url}/llm/${await proxy.join('a1')}`, `${proxy.url}/llm/${await proxy.join('a2')}`];
      const base = () => bases[Math.floor(random() * bases.length)] ?? '';
      // Small ones first: a mean of these would say that a hundred large ones are cheap.
      for (let small = 0; small < 5; small++) await ask(base(), random, 10);
      const waves = 1 + Math.floor(random() * 3);
      for (let wave = 0; wave < waves; wave++) {
        const large = Array.from({ length: 5 + Math.floor(random() * 25) }, () =>
          ask(base(), random, Math.ceil(random() * 20_000)),
        );
        const patience = new Promise((resolve) => setTimeout(resolve, 1_500));
        await Promise.race([Promise.all(large), patience]);
      }
      const counted = async () => (await proxy.costs.report(1)).today.costMicroUsd;
      const seen = () => model.spent.reduce((sum, each) => sum + each, 0);
      // What is under way ends, and is counted then.
      await expect.poll(counted, { interval: 50 }).toBeGreaterThanOrEqual(seen());
      expect(seen()).toBeLessThanOrEqual(BUDGET_USD * MICRO_USD + Math.max(...model.spent));
      expect(model.spent.length).toBeGreaterThan(5);
    } finally {
      await proxy.close();
      await model.close();
    }
  },
);
