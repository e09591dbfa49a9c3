/**
 * What a wake is said to cost before it is sent, beside what the model's server counts when it is.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEAT_ORDER, seatColor } from '../../../../src/shared/domain/seat.ts';
import { writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import { costsSchema, wakeCostSchema } from '../../../../src/shared/protocol/costs.ts';
import { openEventSource, type OpenStream } from '../../../support/event-source.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';
import {
  startScriptedModel,
  teamScript,
  type ScriptedModel,
  type ScriptedRequest,
} from '../../../support/scripted-model.ts';
import { headersOf } from '../../../support/sign-in.ts';

/** Unlike Roost's own guess. */
const CHARACTERS_PER_TOKEN = 2.6;
const tokensOf = ({ body: { system, tools, messages } }: ScriptedRequest) =>
  Math.ceil(JSON.stringify({ system, tools, messages }).length / CHARACTERS_PER_TOKEN);

let model: ScriptedModel;
let relay: OpenRelay;
let page: Browser;
let events: OpenStream;
beforeAll(async () => {
  const usual = teamScript();
  const sent = new Map<number | null, number>();
  model = await startScriptedModel(async (request) => {
    const parts = await usual(request);
    const tokens = tokensOf(request);
    const cached = request.seat === null && request.results.length > 0 ? (sent.get(null) ?? 0) : 0;
    sent.set(request.seat, tokens);
    const usage = { input_tokens: 0, cache_read_input_tokens: cached, cache_creation_input_tokens: tokens - cached };
    return Array.isArray(parts) ? [{ usage }, ...parts] : parts;
  });
  relay = await openTestRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'k' } });
  page = await relay.signIn();
  const headers = headersOf(await page.signIn());
  events = await openEventSource((signal) => fetch(new URL('/api/events', relay.url), { headers, signal }));
});
afterAll(async () => {
  events.close();
  await relay.close();
  await model.close();
});

const soul = 'I am somebody, and I chose this name myself. '.repeat(30);
const talk = (characters: number) => 'Ada:\n> What shall we read tonight?\n\n'.repeat(Math.ceil(characters / 36));
const start = (characters: number) => ({
  human: { name: 'Ada' },
  lead: { name: 'Julian', soul, transcript: talk(characters) },
});
const wakeOf = (seats: number, characters: number) =>
  writeWake(
    SEAT_ORDER.slice(0, seats).map((position) => ({
      id: `agent-${position}`,
      name: `Agent ${position}`,
      ...seatColor(position),
      position,
      soul,
      transcript: talk(characters),
    })),
  );
const post = async (path: string, json: unknown) => {
  const response = await page.fetch(path, { method: 'POST', json });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? null : ((await response.json()) as unknown);
};
const expected = async (asked: { start: unknown; text: string }) =>
  wakeCostSchema.parse(await post('/api/costs/wake', asked)).reads;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
const spent = async () => costsSchema.parse(await (await page.fetch('/api/costs')).json()).today;

async function wake(seats: number, characters: number): Promise<readonly ScriptedRequest[]> {
  const [asked, before] = [model.requests.length, events.messages.length];
  const since = (kind: string) => events.messages.slice(before).filter(({ event }) => event === kind);
  const isGreeting = (data: unknown) => /Welcome, all of you/.test(JSON.stringify(data));
  await post('/api/messages', { text: wakeOf(seats, characters), clientId: randomUUID() });
  await events.until(() => since('agent-awake').length === seats);
  await events.until(() => since('message').some(({ data }) => isGreeting(data)));
  return model.requests.slice(asked);
}
async function endSession(): Promise<void> {
  const before = events.messages.length;
  await page.fetch('/api/sessions/current', { method: 'DELETE' });
  await events.until(() => events.messages.slice(before).some(({ event }) => event === 'session-ended'));
}

it.each([
  [1, 0],
  [3, 4_000],
  [8, 24_000],
])('a wake of %i with %i characters each is sent nothing, and then costs what was said', async (seats, characters) => {
  // Once before, so that the relay knows how this server counts.
  await post('/api/sessions', start(0));
  await wake(1, 0);
  await endSession();
  const asked = model.requests.length;
  const text = wakeOf(seats, characters);
  const reads = await expected({ start: start(characters), text });
  expect(model.requests.length).toBe(asked);
  await post('/api/sessions', start(characters));
  const before = await spent();
  const sent = await wake(seats, characters);
  await endSession();
  const after = await spent();
  expect(sumOf(reads.map(({ requests }) => requests))).toBe(sent.length);
  const counted = sumOf(sent.map(tokensOf));
  const told = sumOf(reads.map(({ tokens }) => tokens));
  expect(told / counted).toBeGreaterThan(0.9);
  expect(told / counted).toBeLessThan(1.1);
  // 20 tokens an answer come on top, at 5 times the input's price or less.
  const answered = (after.costMicroUsd - before.costMicroUsd) / sumOf(reads.map(({ costMicroUsd }) => costMicroUsd));
  expect(answered).toBeGreaterThan(0.9);
  expect(answered).toBeLessThan(1.1);
});

it("counts what the lead has read already, and a server's figures that nobody asked for", async () => {
  await post('/api/sessions', start(0));
  const long = 'Tell me about the tides. '.repeat(2_000);
  const before = events.messages.length;
  await post('/api/messages', { text: long, clientId: randomUUID() });
  await events.until(() =>
    // Whole: until then its answer is not before it.
    events.messages
      .slice(before)
      .some(({ event, data }) => event === 'message' && /The lead heard/.test(JSON.stringify(data))),
  );
  const reads = await expected({ start: start(0), text: wakeOf(2, 1_000) });
  const sent = await wake(2, 1_000);
  await endSession();
  const lead = (all: readonly ScriptedRequest[]) => sumOf(all.filter(({ seat }) => seat === null).map(tokensOf));
  const told = reads.find(({ agentId }) => agentId === 'lead')?.tokens ?? 0;
  expect(told / lead(sent)).toBeGreaterThan(0.9);
  expect(told / lead(sent)).toBeLessThan(1.1);
});

it('refuses anything but a wake call, with the reason', async () => {
  for (const text of ['hello', '[WAKE AGENTS]\n<agent-payloads>', '[SUMMON AGENTS]\n<seats></seats>']) {
    const answer = await page.fetch('/api/costs/wake', { method: 'POST', json: { start: start(0), text } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'about:roost/malformed', errors: [{ field: 'text' }] });
  }
});
