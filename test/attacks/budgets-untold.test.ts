/**
 * A model's server that does not say what an answer took, or says zero: what is not known is
 * charged at the most that it may be.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MICRO_USD } from '../../src/shared/domain/money.ts';
import { agentRun } from '../support/runs.ts';
import { openSpenders, type Spenders } from '../support/spenders.ts';
import { storeFor } from '../support/store-for.ts';

const store = storeFor();
const MODEL = 'claude-opus-5-5';
const MOST_TOKENS = 4_000;
const PER_TOKEN = { input: 4, output: 20 } as const;

/**
 * `begins`, `ends`: the usage in the first and the last event of an answer; left out: there is
 * none.
 */
interface Telling {
  readonly begins?: object;
  readonly ends?: object;
}
const TELLINGS: readonly (readonly [string, Telling])[] = [
  ['nothing', {}],
  ['empty words', { begins: {}, ends: {} }],
  ['null', { begins: { input_tokens: null, output_tokens: null }, ends: { output_tokens: null } }],
  ['zero', { begins: { input_tokens: 0, output_tokens: 0 }, ends: { output_tokens: 0 } }],
  ['only what was read', { begins: { input_tokens: 100, output_tokens: 1 } }],
];

let spenders: Spenders;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const counted = async () => (await spenders.team.costs.report(1)).today.costMicroUsd;

/** It writes to its longest answer, says ten words of it, and tells of it what it is told to. */
async function open({ begins, ends }: Telling, cuts = false) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      response.setHeader('content-type', 'text/event-stream');
      const message = { id: 'm', type: 'message', role: 'assistant', model: MODEL, content: [], stop_reason: null };
      const words = { type: 'text_delta', text: 'I have thought of it for long, and here I am.' };
      const events = [
        { type: 'message_start', message: { ...message, ...(begins ? { usage: begins } : {}) } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: words },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(ends ? { usage: ends } : {}) },
        { type: 'message_stop' },
      ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      if (!cuts) return void response.end(events.join(''));
      response.write(events.slice(0, 3).join(''), () => setTimeout(() => response.destroy(), 20));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())));
  spenders = await openSpenders(store(), `http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    stopsWhenLeft: true,
  });
  closers.unshift(() => spenders.close());
  return { requests: () => requests };
}

describe('A server that tells', () => {
  it.each(TELLINGS)(
    '%s of an answer in a session spends no more than the budget and one request',
    async (_, telling) => {
      const model = await open(telling);
      const { team, start, say, budget } = spenders;
      // Of three of its answers at their longest, on the dearest terms.
      const usd = (3 * 2 * MOST_TOKENS * PER_TOKEN.output) / MICRO_USD;
      await budget(usd);
      await start(MODEL, MOST_TOKENS);
      const answers = () => model.requests();
      for (let n = 0; n < 8; n++) {
        const turn = new Promise<void>((over) => {
          const forget = team.host.onTurnEnd(() => (forget(), over()));
        });
        await say('And then?');
        await turn;
      }
      expect(answers()).toBeGreaterThan(0);
      await team.host.end('ended');
      await expect.poll(counted).toBeGreaterThanOrEqual(answers() * MOST_TOKENS * PER_TOKEN.output);
      expect(answers() * MOST_TOKENS * PER_TOKEN.output).toBeLessThanOrEqual(usd * MICRO_USD);
      expect(spenders.errors).toEqual([]);
    },
  );

  it.each(TELLINGS)(
    "charges the longest answer and the sent request when a run's server reports %s",
    async (_, telling) => {
      await open(telling);
      const { team, mind, agentIds } = spenders;
      const run = agentRun(mind, {
        identity: { agentId: agentIds[0] ?? '' },
        mind: { answers: mind, model: MODEL },
        limits: { maxAnswerTokens: MOST_TOKENS },
      });
      const started = await team.runs.start(run);
      if (!started.ok) throw new Error(started.refusal.why);
      expect((await started.run.whenEnded).outcome).toBe('done');
      const read =
        telling.begins && 'input_tokens' in telling.begins && telling.begins.input_tokens === 100 ? 100 : 500;
      await expect.poll(counted).toBeGreaterThanOrEqual(MOST_TOKENS * PER_TOKEN.output + read * PER_TOKEN.input);
      const { today } = await team.costs.report(1);
      expect(today.estimated).toBe(true);
    },
  );

  it.each(TELLINGS)(
    "charges the longest answer and the sent request when the proxy's server reports %s",
    async (_, telling) => {
      await open(telling);
      const body = JSON.stringify({ model: MODEL, max_tokens: MOST_TOKENS, stream: true, messages: [] });
      await (await fetch(`${spenders.bases[0]}/v1/messages`, { method: 'POST', body })).text();
      await expect.poll(counted).toBeGreaterThanOrEqual(MOST_TOKENS * PER_TOKEN.output + 100 * PER_TOKEN.input);
    },
  );

  it.each(TELLINGS)('charges the sent part when the server reports %s of an interrupted answer', async (_, telling) => {
    await open(telling, true);
    const { team, mind, agentIds } = spenders;
    const run = agentRun(mind, {
      identity: { agentId: agentIds[0] ?? '' },
      mind: { answers: mind, model: MODEL },
      limits: { maxAnswerTokens: MOST_TOKENS },
    });
    const started = await team.runs.start(run);
    if (!started.ok) throw new Error(started.refusal.why);
    await started.run.whenEnded;
    const read = telling.begins && 'input_tokens' in telling.begins && telling.begins.input_tokens === 100 ? 100 : 500;
    await expect.poll(counted).toBeGreaterThanOrEqual(MOST_TOKENS * PER_TOKEN.output + read * PER_TOKEN.input);
  });
});
