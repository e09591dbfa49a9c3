/**
 * Names of models that are more than names: that lead out of their place in a path, or begin as a
 * free model’s does.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServedMind } from '../../server/agents/minds/index.ts';
import { modelNameFault } from '../../src/shared/domain/model-names.ts';
import { costOf, DEFAULT_PRICES, isCheaper, type ModelPrice, REHEARSAL_MODEL } from '../../src/shared/domain/prices.ts';
import { costsSchema } from '../../src/shared/protocol/costs.ts';
import { protocolSchema } from '../../src/shared/protocol/models.ts';
import { eventually, talk } from '../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { rawRequest } from '../support/raw-http.ts';

const GEMINI = 'gemini-2.5-pro';
/** Each leads elsewhere where it is put into a path as it is. */
const OUT = [
  `rehearsal/../../models/${GEMINI}`,
  `../models/${GEMINI}`,
  `..\\models\\${GEMINI}`,
  '..',
  '.',
  'models/..',
  'tunedModels/../x',
  'a\nb',
  'a\u0000',
  ' x',
  'x\r\n',
  '\ud800',
  '',
];
/** Odd, and nothing but names. */
const ODD = [
  'files?x=1#',
  'a/b',
  'a%2f..%2fb',
  'x?key=1',
  'x#y',
  'x:generateContent',
  '..%2ffiles',
  '%2e%2e',
  'ü',
  'meta/llama-3:8b',
];

let server: Server;
let url: string;
const asked: string[] = [];

/** A model’s server of all protocols, that answers at whatever path it is asked. */
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ models: [{ name: `models/${GEMINI}` }] }));
    }
    const answer = {
      candidates: [{ content: { parts: [{ text: 'Here.' }], role: 'model' }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1_000_000, candidatesTokenCount: 1_000, totalTokenCount: 1_001_000 },
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(answer)}\n\n`);
  });
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe('the name of a model', () => {
  it.each(protocolSchema.options)('never leaves its place in a request of the protocol %s', async (protocol) => {
    const mind = createServedMind({ protocol, key: 'k', baseUrl: `${url}/base` });
    const ask = async (model: string) => {
      asked.length = 0;
      const messages = [{ role: 'user' as const, blocks: [{ kind: 'text' as const, text: 'Hello?' }] }];
      const request = { priority: 'person' as const, model, system: 's', messages, tools: [], maxTokens: 16 };
      const answer = await mind.answer(request, { onText: () => undefined, signal: new AbortController().signal });
      return { paths: [...new Set(asked)], kind: answer.ok ? null : answer.error.kind };
    };
    for (const name of [...OUT, REHEARSAL_MODEL])
      expect([name, await ask(name)]).toEqual([name, { paths: [], kind: 'no-such-model' }]);
    for (const name of ODD) {
      const { paths } = await ask(name);
      const path = {
        messages: '/base/v1/messages',
        chat: '/base/chat/completions',
        responses: '/base/responses',
        google: `/base/models/${encodeURIComponent(name)}:streamGenerateContent?alt=sse`,
      }[protocol];
      expect([name, paths]).toEqual([name, [`POST ${path}`]]);
    }
    await mind.close();
  });

  it('charges a model whose name begins like the demo’s or a free model’s', () => {
    const price = (model: string, usd: number): ModelPrice => ({
      ...{ model, input: usd, output: usd, cacheRead: usd, cacheWrite: usd },
    });
    const cost = (model: string, prices: readonly ModelPrice[]) =>
      costOf({ model, inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }, prices).microUsd;
    const own = [price('local', 0), price('rehearsal', 0), price('*', 7)];
    expect(cost(REHEARSAL_MODEL, DEFAULT_PRICES)).toBe(0);
    expect(cost('local', own)).toBe(0);
    for (const prices of [DEFAULT_PRICES, own])
      for (const name of ['rehearsal-x', 'rehearsal/x', 'Rehearsal', 'rehearsal ', 'local-not', 'local/../dear'])
        expect([name, cost(name, prices)]).toEqual([name, prices === own ? 7 : 25]);
    // Every model may be declared free, and whoever is asked about a table sees what gets cheaper.
    expect(cost('anything', [price('*', 0)])).toBe(0);
    expect(isCheaper([price('a', 0), price('*', 7)], [price('a', 1), price('*', 7)])).toBe(true);
    expect(isCheaper([price('a', 1), price('*', 7)], [price('a', 0), price('*', 7)])).toBe(true);
    expect(isCheaper([price('*', 7)], [price('*', 7)])).toBe(false);
    expect(modelNameFault('rehearsal-x')).toBeNull();
  });

  describe('at a relay', () => {
    let relay: OpenRelay;
    let owner: Browser;
    let credential: string;
    beforeAll(async () => {
      relay = await openTestRelay();
      owner = await relay.signIn();
      const json = { kind: 'server', address: `${url}/v1beta`, key: 'of-the-household' };
      expect((await owner.fetch('/api/models', { method: 'POST', json })).status).toBe(201);
      await owner.fetch('/api/team', {
        method: 'PUT',
        json: { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] },
      });
      const made = await owner.fetch('/api/credentials', { method: 'POST', json: { agentId: 'a1' } });
      credential = ((await made.json()) as { secret: string }).secret;
    });
    afterAll(() => relay.close());

    it('refuses a name that leaves its path, and charges it whatever it begins with', async () => {
      const costs = async () => costsSchema.parse(await (await owner.fetch('/api/costs')).json()).today.costMicroUsd;
      asked.length = 0;
      const json = {
        human: { name: 'Noa' },
        lead: { name: 'Mordred', soul: null, transcript: null },
        settings: { leadModel: OUT[0] },
      };
      expect((await owner.fetch('/api/sessions', { method: 'POST', json })).status).toBe(201);
      await talk(owner, 'Hello?');
      await owner.fetch('/api/sessions/current', { method: 'DELETE' });
      expect(asked).toEqual([]);
      await owner.fetch('/api/sessions', {
        method: 'POST',
        json: { ...json, settings: { leadModel: 'rehearsal-9' } },
      });
      await talk(owner, 'Hello?');
      await owner.fetch('/api/sessions/current', { method: 'DELETE' });
      expect(asked).toContain('POST /v1beta/models/rehearsal-9:streamGenerateContent?alt=sse');
      expect(await eventually(costs, (spent) => spent > 0)).toBeGreaterThan(25_000_000);
    });

    it('refuses the name at the proxy, in a body and in a path', async () => {
      asked.length = 0;
      const call = async (method: string, path: string, body?: string) =>
        await rawRequest({
          ...{ port: Number(new URL(relay.url).port), method, path: `/llm/${credential}${path}` },
          headers: { host: new URL(relay.url).host, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body }),
        });
      for (const model of [...OUT.filter((name) => name !== ''), REHEARSAL_MODEL]) {
        const body = JSON.stringify({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] });
        for (const path of ['/v1/messages', '/v1/messages/count_tokens'])
          expect([model, path, (await call('POST', path, body)).status]).toEqual([model, path, 400]);
      }
      for (const path of ['..%2ffiles', '%2e%2e%2ffiles', '..%5cfiles', 'a%0d%0ab', 'rehearsal'])
        expect([path, (await call('GET', `/v1/models/${path}`)).status]).toEqual([path, 400]);
      expect(asked).toEqual([]);
    });
  });
});
