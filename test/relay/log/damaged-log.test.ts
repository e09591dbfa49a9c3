/**
 * Rows of a home that cannot be read: each is left out and told, and nothing else of the home is
 * touched by it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costsSchema } from '../../../src/shared/protocol/costs.ts';
import { eventSchema } from '../../../src/shared/protocol/events.ts';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { eventsOf, eventually, startSession, talk } from '../../support/homes.ts';
import { answers, says, startRawModel, type RawModel } from '../../support/raw-model.ts';
import { createHome, databaseOf, startRelay, type TestRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';

let model: RawModel;
let home: string;
let relay: TestRelay;
const start = (signIn?: Awaited<ReturnType<TestRelay['signIn']>>) =>
  startRelay({
    home,
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
    ...(signIn ? { signIn } : {}),
  });
beforeAll(async () => {
  model = await startRawModel(() => answers(says(0, 'Here I am.')));
  home = await createHome({ store: 'postgres' });
  relay = await start();
});
afterAll(async () => {
  await relay.stop();
  await model.close();
});

async function inStore(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseOf(home) });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
async function restart(meanwhile: (client: pg.Client) => Promise<void> = () => Promise.resolve()) {
  const signIn = await relay.signIn();
  await relay.kill('SIGTERM');
  await inStore(meanwhile);
  relay = await start(signIn);
}
const costs = async () => {
  const answer = await relay.fetch('/api/costs?days=30');
  expect(answer.status).toBe(200);
  return costsSchema.parse(await answer.json());
};
const wordsIn = (messages: readonly { readonly event: string; readonly data: unknown }[]) =>
  messages.flatMap(({ event, data }) => {
    const parsed = eventSchema.safeParse(data);
    if (event !== 'message' || !parsed.success || parsed.data.kind !== 'message') return [];
    return parsed.data.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  });

describe('A home whose log has rows that cannot be read', () => {
  it('skips unreadable rows, reports them once, and goes on', async () => {
    await startSession(relay, 'Julian');
    await talk(relay, 'First.');
    await talk(relay, 'Second.');
    await talk(relay, 'Third.');
    const before = await eventsOf(relay);
    const of = (text: string) =>
      before.find(({ event, data }) => event === 'message' && JSON.stringify(data).includes(text))?.id ?? '';
    const [first, second] = [of('"First."'), of('"Second."')];
    await restart(async (client) => {
      await client.query(`update roost.events set event_json = '{"kind":"message", oh' where id = $1`, [first]);
      await client.query(`update roost.events set kind = 'party', event_json = '{"kind":"party"}' where id = $1`, [
        second,
      ]);
      // As an earlier version wrote them: a count that was none, a call without an id, a sum that
      // is no whole number.
      const { rows } = await client.query<{ id: string; event_json: string }>(
        `select id, event_json from roost.events where kind in ('message', 'run-ended') order by id`,
      );
      for (const { id, event_json: text } of rows) {
        const event = id === first ? {} : (JSON.parse(text) as Record<string, unknown>);
        if (event['role'] === 'assistant')
          Object.assign(event, {
            usage: { model: {}, inputTokens: '12' },
            blocks: [
              ...(event['blocks'] as object[]),
              { kind: 'tool', name: 'x', input: {}, result: null, isError: false },
            ],
          });
        else if (event['kind'] === 'run-ended') Object.assign(event, { costMicroUsd: 2.25e17 });
        else continue;
        await client.query(`update roost.events set event_json = $2 where id = $1`, [id, JSON.stringify(event)]);
      }
      await client.query(`update roost.usage set cost_micro_usd = 9007199254740991, input_tokens = 9007199254740991`);
      await client.query(`update roost.spending set cost_micro_usd = 9007199254740991`);
    });
    await startSession(relay, 'Julian');
    await talk(relay, 'Fourth.');
    const heard = await eventsOf(relay);
    const words = wordsIn(heard);
    expect(words.filter((text) => ['First.', 'Second.', 'Third.', 'Fourth.'].includes(text))).toEqual([
      'Third.',
      'Fourth.',
    ]);
    // What a model said stays, whatever it said of itself.
    expect(words.filter((text) => text === 'Here I am.')).toHaveLength(4);
    expect(heard.at(-1)?.event).toBe('snapshot');
    const told = () => words.filter((text) => /can no longer be read/.test(text));
    expect(told()).toHaveLength(2);
    for (const id of [first, second]) expect(told().some((text) => text.includes(`number ${id}.`))).toBe(true);
    const report = await costs();
    expect(report.today.requests).toBeGreaterThanOrEqual(4);
    const log = await readFile(join(home, 'relay.log'), 'utf8').catch(() =>
      readFile(join(home, 'logs', 'relay.log'), 'utf8'),
    );
    expect(log.match(/An event cannot be read, and is set aside/g)).toHaveLength(2);
    // A page that comes back, and another start, are told nothing new.
    await restart();
    const again = wordsIn(await eventsOf(relay));
    expect(again.filter((text) => /can no longer be read/.test(text))).toHaveLength(2);
    await costs();
  });

  it('starts, and counts, where a model says what Postgres has no text for', async () => {
    const odd = 'nul \u0000 and half a pair \ud800 and \udc00';
    const put = async (method: string, path: string, json?: unknown) => {
      const answer = await relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
      expect(answer.ok, `${path} ${answer.status}`).toBe(true);
      return answer;
    };
    await put('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
    await put('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
    const routine = { kind: 'routine', agentId: 'a1', name: 'Round', instructions: odd };
    const timing = { kind: 'every', minutes: 10_080 };
    const made = await put('POST', '/v1/pulse-routines', { ...routine, timing });
    const { scheduleId } = scheduledSchema.parse(await made.json());
    const ended = async () =>
      (await eventsOf(relay)).filter(
        ({ event, data }) => event === 'run-ended' && JSON.stringify(data).includes('"agentId":"a1"'),
      );
    model.follow(() => answers(says(0, odd)));
    await put('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await eventually(ended, ({ length }) => length === 1);
    const body = JSON.stringify({ type: 'error', error: { type: 'api_error', message: odd } });
    const headers = { 'x-should-retry': 'false' };
    model.follow(() => ({ status: 500, type: 'application/json', chunks: [body], headers }));
    await put('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    expect((await eventually(ended, ({ length }) => length === 2)).at(-1)?.data).toMatchObject({ outcome: 'failed' });
    const both = () => eventually(costs, ({ routines: [first] }) => first?.runs === 2);
    // What a relay had not written down when it was stopped is written by the next, once its claim
    // is over.
    await both();
    await restart();
    const { routines } = await both();
    expect(routines).toMatchObject([{ scheduleId }]);
    expect(JSON.stringify(await eventsOf(relay))).toContain('nul \\u0000');
    await put('POST', '/v1/pulse-routines', { ...routine, name: 'Another round', timing });
  });
});
