/**
 * What a routine's run is said to cost before it is saved, beside what the model's server counts
 * when it runs: in households of many sizes.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { DEFAULT_PRICES, priceFor } from '../../../src/shared/domain/prices.ts';
import { wakeCostSchema } from '../../../src/shared/protocol/costs.ts';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { SNAPSHOT, routine } from '../../support/schedules.ts';
import { startScriptedModel, type ScriptedModel, type ScriptedRequest } from '../../support/scripted-model.ts';

/** Unlike Roost's own guess. */
const CHARACTERS_PER_TOKEN = 2.6;
const tokensOf = ({ body: { system, tools, messages } }: ScriptedRequest) =>
  Math.ceil(JSON.stringify({ system, tools, messages }).length / CHARACTERS_PER_TOKEN);
const HOUSEHOLDS = 20;

/** The first marks are for the tools and the system prompt, as the server caches them. */
const headOf = ({ body: { system, tools } }: ScriptedRequest) => ({
  key: JSON.stringify({ system, tools }),
  isHourly: JSON.stringify(system).includes('"ttl":"1h"'),
});
/** Heads that were sent to the server that caches. */
const cached = new Set<string>();
/** What a server that caches says of it: a head that it knows is read, all else is written. */
function cachedUsage(request: ScriptedRequest) {
  const { key, isHourly } = headOf(request);
  const head = Math.ceil(key.length / CHARACTERS_PER_TOKEN);
  const all = tokensOf(request);
  const read = isHourly && cached.has(key) ? head : 0;
  cached.add(key);
  const hourly = isHourly && read === 0 ? head : 0;
  return {
    input_tokens: 0,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: all - read,
    cache_creation: { ephemeral_1h_input_tokens: hourly, ephemeral_5m_input_tokens: all - read - hourly },
  };
}
/** Millionths of a dollar, as the server's own price list says. */
function billOf(request: ScriptedRequest, usage: ReturnType<typeof cachedUsage>): number {
  const price = priceFor(request.body.model, DEFAULT_PRICES);
  const { ephemeral_1h_input_tokens: hour, ephemeral_5m_input_tokens: minutes } = usage.cache_creation;
  return usage.cache_read_input_tokens * price.cacheRead + hour * 2 * price.input + minutes * 1.25 * price.input;
}

function lastOf<Value>(values: readonly Value[]): Value {
  const last = values.at(-1);
  if (last === undefined) throw new Error('There is none.');
  return last;
}

let model: ScriptedModel;
let relay: OpenRelay;
let page: Browser;
beforeAll(async () => {
  model = await startScriptedModel((request) => [
    { usage: { input_tokens: tokensOf(request), cache_read_input_tokens: 0, cache_creation_input_tokens: 0 } },
    { say: 'Nothing is to be done.' },
  ]);
  relay = await openTestRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'k' } });
  page = await relay.signIn();
});
afterAll(async () => {
  await relay.close();
  await model.close();
});

const call = async (method: string, path: string, json?: unknown): Promise<unknown> => {
  const response = await page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  const text = await response.text();
  return text === '' ? null : (JSON.parse(text) as unknown);
};
const words = (characters: number) => 'What shall we read tonight? '.repeat(Math.ceil(characters / 28));

/** The nth household: how many live there, and how long everything is. */
const household = (n: number) => ({
  team: Array.from({ length: 1 + (n % 8) }, (_none, i) => ({
    agentId: `agent-${i}`,
    name: `Agent ${i}`,
    position: i,
    retired: false,
  })),
  snapshot: { ...SNAPSHOT, soul: words(200 + 60 * n), transcript: words((n % 7) * 3_000) },
  routine: routine({
    name: `Round ${n}`,
    instructions: words(100 + 90 * (n % 11)),
    context: n % 2 === 0 ? 'last_session' : 'none',
    tools: n % 5 === 0 ? ['read_file', 'message_agent'] : null,
    timing: { kind: 'weekly', days: [0, 1, 2, 3, 4, 5, 6], time: '03:00', zone: null },
  }),
});

async function run(scheduleId: string): Promise<ScriptedRequest> {
  const before = model.requests.length;
  await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
  await expect
    .poll(
      async () =>
        z
          .object({ occurrences: z.array(occurrenceSchema) })
          .parse(await call('GET', `/v1/pulse-routines/${scheduleId}/history`)).occurrences[0]?.state,
      { interval: 10 },
    )
    .toBe('done');
  const [request] = model.requests.slice(before);
  if (!request) throw new Error('Nothing was asked.');
  return request;
}

it(`measures a run within a tenth of what the server counts, in ${HOUSEHOLDS} households, and asks no model`, async () => {
  const off: string[] = [];
  for (let n = 0; n < HOUSEHOLDS; n++) {
    const { team, snapshot, routine: asked } = household(n);
    await call('PUT', '/api/team', { agents: team });
    const before = model.requests.length;
    const { reads } = wakeCostSchema.parse(await call('POST', '/api/costs/run', { snapshot, routine: asked }));
    expect(model.requests.length).toBe(before);
    await call('PUT', '/api/agent-snapshots/agent-0', { version: `v${String(n).padStart(20, '0')}`, snapshot });
    const { scheduleId } = scheduledSchema.parse(await call('POST', '/v1/pulse-routines', asked));
    const counted = tokensOf(await run(scheduleId));
    await call('DELETE', `/v1/pulse-routines/${scheduleId}`);
    const share = (reads[0]?.tokens ?? 0) / counted;
    // The relay learns from the first run how this server counts.
    if (n > 0 && !(share > 0.9 && share < 1.1)) off.push(`household ${n}: ${share.toFixed(3)} of ${counted}`);
  }
  expect(off).toEqual([]);
});

it(`prices runs within the hour within a tenth of what a server that caches bills, in ${HOUSEHOLDS} households`, async () => {
  const usages: ReturnType<typeof cachedUsage>[] = [];
  model.follow((request) => {
    const usage = cachedUsage(request);
    usages.push(usage);
    return [{ usage }, { say: 'Nothing is to be done.' }];
  });
  const billed = async (scheduleId: string) => billOf(await run(scheduleId), lastOf(usages));
  const off: string[] = [];
  for (let n = 0; n < HOUSEHOLDS; n++) {
    const { team, snapshot, routine: often } = household(n);
    const asked = { ...often, name: `Often ${n}`, timing: { kind: 'every', minutes: 15 } };
    await call('PUT', '/api/team', { agents: team });
    const { reads } = wakeCostSchema.parse(await call('POST', '/api/costs/run', { snapshot, routine: asked }));
    await call('PUT', '/api/agent-snapshots/agent-0', { version: `w${String(n).padStart(20, '0')}`, snapshot });
    const { scheduleId } = scheduledSchema.parse(await call('POST', '/v1/pulse-routines', asked));
    const [first, again] = [await billed(scheduleId), await billed(scheduleId)];
    await call('DELETE', `/v1/pulse-routines/${scheduleId}`);
    // It is the cache that is measured.
    expect(again).toBeLessThan(first);
    const shares = [
      (reads[0]?.withinHour?.firstMicroUsd ?? 0) / first,
      (reads[0]?.withinHour?.againMicroUsd ?? 0) / again,
    ];
    // The relay learns from the first run how this server counts.
    if (n > 0 && !shares.every((share) => share > 0.9 && share < 1.1))
      off.push(`household ${n}: ${shares.map((share) => share.toFixed(3)).join(' and ')} of ${first} and ${again}`);
  }
  expect(off).toEqual([]);
});

it('refuses a routine without an agent that fits', async () => {
  const { snapshot, routine: asked } = household(1);
  const answer = await page.fetch('/api/costs/run', {
    method: 'POST',
    json: { snapshot: { ...snapshot, name: '' }, routine: asked },
  });
  expect(answer.status).toBe(400);
});
