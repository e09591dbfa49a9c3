/**
 * What a request says of itself, to be held for less than it may cost, or to have the household
 * charged for what no model does.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { MICRO_USD } from '../../src/shared/domain/money.ts';
import { agentRun } from '../support/runs.ts';
import { startDeafModel } from '../support/deaf-model.ts';
import { openSpenders, type Spenders } from '../support/spenders.ts';
import { storeFor } from '../support/store-for.ts';

const store = storeFor();
const MODEL = 'claude-opus-5-5';
const USD_PER_TOKEN = 20 / 1_000_000;

let spenders: Spenders;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const open = async (url: string) => {
  spenders = await openSpenders(store(), url, { stopsWhenLeft: true });
  closers.unshift(() => spenders.close());
};
const ask = (base: string, more: object, signal?: AbortSignal) =>
  fetch(`${base}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: MODEL, max_tokens: 4_000, messages: [], ...more }),
    ...(signal ? { signal } : {}),
  })
    .then((response) => response.text())
    .catch(() => '');
const counted = async () => (await spenders.team.costs.report(1)).today.costMicroUsd;

describe('A request that says of itself', () => {
  it.each([-1_000_000_000, -0.5, Number.MIN_SAFE_INTEGER])(
    'makes no room for other requests by claiming %d searches',
    async (searches) => {
      const model = await startDeafModel('nothing');
      closers.push(model.close);
      await open(model.url);
      const [base = '', , other = ''] = spenders.bases;
      await spenders.budget(0.2);
      let done = 0;
      const asking = [
        ask(other, {
          max_tokens: 10,
          tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: searches }],
        }),
      ];
      await expect.poll(model.underWay, { interval: 5 }).toBe(1);
      asking.push(...Array.from({ length: 12 }, () => ask(base, {})));
      for (const each of asking) void each.then(() => (done += 1));
      await sleep(100);
      // As many as were let through; the others are, or are refused, one by one.
      while (done < asking.length) {
        model.die();
        await sleep(10);
      }
      expect(model.total()).toBeLessThanOrEqual(0.2 * MICRO_USD + 4_000 * USD_PER_TOKEN * MICRO_USD + 1_000);
      expect(await counted()).toBeGreaterThanOrEqual(model.total());
    },
  );

  it('charges an abandoned request with an answer of any length as the longest possible', async () => {
    const model = await startDeafModel('nothing');
    closers.push(model.close);
    await open(model.url);
    const leaving = new AbortController();
    const asking = ask(spenders.bases[0] ?? '', { max_tokens: Number.MAX_SAFE_INTEGER }, leaving.signal);
    await expect.poll(model.underWay, { interval: 5 }).toBe(1);
    leaving.abort();
    await asking;
    await expect.poll(counted).toBeGreaterThan(0);
    // On the dearest terms, which a request has that says nothing of them.
    expect(await counted()).toBeLessThan(2 * 128_000 * USD_PER_TOKEN * MICRO_USD + 20_000);
  });
});

it('What a server has looked up for an answer that was cut is counted as all that it may be', async () => {
  const model = await startDeafModel('head');
  closers.push(model.close);
  await open(model.url);
  const asking = ask(spenders.bases[0] ?? '', {
    stream: true,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  });
  await expect.poll(model.underWay, { interval: 5 }).toBe(1);
  await sleep(50);
  model.die();
  await asking;
  await expect.poll(counted).toBeGreaterThan(200_000 * 4 + 10 * 10_000 + 4_000 * 20);
});

describe('Capacity that was bought ahead', () => {
  /** Every answer is on this tier. */
  async function startTiered(tier: string | null) {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        response.setHeader('content-type', 'text/event-stream');
        const usage = { input_tokens: 100, output_tokens: 1, ...(tier === null ? {} : { service_tier: tier }) };
        const events = [
          {
            type: 'message_start',
            message: {
              id: 'm',
              type: 'message',
              role: 'assistant',
              model: MODEL,
              content: [],
              stop_reason: null,
              usage,
            },
          },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Here.' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 80 } },
          { type: 'message_stop' },
        ];
        response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())));
    await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  const PLAIN = 100 * 4 + 80 * 20;

  it.each([
    ['priority', 2 * PLAIN],
    ['standard', PLAIN],
    [null, PLAIN],
  ])('charges reserved capacity by what the answer says of it, in a run and by the proxy: %s', async (tier, each) => {
    await startTiered(tier);
    const { team, mind, bases, agentIds } = spenders;
    await ask(bases[0] ?? '', { stream: true });
    await expect.poll(counted).toBe(each);
    const run = agentRun(mind, { identity: { agentId: agentIds[0] ?? '' }, mind: { answers: mind, model: MODEL } });
    const started = await team.runs.start(run);
    if (!started.ok) throw new Error(started.refusal.why);
    await started.run.whenEnded;
    await expect.poll(counted).toBe(2 * each);
  });

  it.each([{}, { service_tier: 'auto' }, { service_tier: 'standard_only' }])(
    'reserves money for the priority tier when a request does not decline it: %j',
    async (said) => {
      const model = await startDeafModel('nothing');
      closers.push(model.close);
      await open(model.url);
      await spenders.budget(0.2);
      const [base = ''] = spenders.bases;
      // Two of these fit at the plain price, and one at the dearer.
      const asking = [ask(base, said), ask(base, said)];
      await expect.poll(model.underWay, { interval: 5 }).toBeGreaterThan(0);
      await sleep(150);
      expect(model.underWay()).toBe('service_tier' in said && said.service_tier === 'standard_only' ? 2 : 1);
      let over = false;
      void Promise.all(asking).then(() => (over = true));
      while (!over) {
        model.die();
        await sleep(10);
      }
    },
  );
});
