/**
 * What a routine's run is said to cost before it is saved, beside what the model's server counts
 * when it runs: in households of many sizes.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
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

it('refuses a routine without an agent that fits', async () => {
  const { snapshot, routine: asked } = household(1);
  const answer = await page.fetch('/api/costs/run', {
    method: 'POST',
    json: { snapshot: { ...snapshot, name: '' }, routine: asked },
  });
  expect(answer.status).toBe(400);
});
