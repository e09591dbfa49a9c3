/**
 * Sleeping flags that an application or a thread clears: no wakes that limits count, and none that
 * is lost. Through a relay over HTTP.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../../support/proxied.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';

const LYRA = 'a1';
const SEVEN = ['a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8'];
const WINDOW_SECONDS = 2;
const sleepingOf = (agentId: string) => `/api/v1/sessions/current/${agentId}/sleeping`;

let scheduleRelay: ScheduleRelay;
const secrets = new Map<string, string>();
const isAsleep = async (agentId: string): Promise<boolean> => {
  const answer = (await (await scheduleRelay.call('GET', sleepingOf(agentId))).json()) as { sleeping: boolean };
  return answer.sleeping;
};
const awake = async () =>
  (await Promise.all(SEVEN.map(async (agentId) => ((await isAsleep(agentId)) ? [] : [agentId])))).flat();
const putToSleep = async (agentId: string) =>
  expect((await scheduleRelay.call('PUT', sleepingOf(agentId), { sleeping: true })).status).toBe(200);
const ask = (agentId: string) =>
  clientOf(`${scheduleRelay.relay.url}/llm/${secrets.get(agentId) ?? ''}`).messages.create({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi.' }],
  });
const limits = (more: object = {}) =>
  scheduleRelay.call('PUT', '/v1/config', {
    coordination: { wake_events: ['added_to_any_thread', 'mentioned'], wakes_enabled: true, blackouts: [], ...more },
    flood_guard: { max_wakes: 3, window_seconds: WINDOW_SECONDS },
  });
async function application(): Promise<(sleeping: boolean) => Promise<number>> {
  const headers = {
    authorization: `Bearer ${await scheduleRelay.secret(null)}`,
    'content-type': 'application/json',
  };
  return async (sleeping) => {
    const body = JSON.stringify({ sleeping });
    return (await fetch(new URL(sleepingOf('a2'), scheduleRelay.relay.url), { method: 'PUT', headers, body })).status;
  };
}

beforeAll(async () => {
  scheduleRelay = await openScheduleRelay([LYRA, ...SEVEN]);
  await scheduleRelay.call('POST', '/api/sessions', {
    human: { name: 'Ada' },
    lead: { name: 'Julian', soul: null, transcript: null },
  });
  // All come in as clients.
  for (const agentId of [LYRA, ...SEVEN]) {
    secrets.set(agentId, await scheduleRelay.secret(agentId));
    await ask(agentId);
  }
});
afterAll(() => scheduleRelay.close());
beforeEach(async () => {
  await limits();
  await scheduleRelay.pass(24 * 3_600_000);
  for (const agentId of SEVEN) await putToSleep(agentId);
});

describe('seven agents that sleep', () => {
  it('wakes all for one thread that names them, in order, within the flood guard', async () => {
    await scheduleRelay.tool(LYRA, 'create_thread', { title: 'Tides', participants: SEVEN });
    expect((await awake()).length).toBeLessThan(SEVEN.length);
    await expect.poll(awake, { timeout: 5 * WINDOW_SECONDS * 1_000 }).toEqual(SEVEN);
    const granted = (await scheduleRelay.wakes()).filter(
      ({ outcome, way }) => outcome === 'granted' && way === 'thread_added',
    );
    expect(
      granted
        .slice(0, SEVEN.length)
        .map(({ target }) => target)
        .reverse(),
    ).toEqual(SEVEN);
    for (const agentId of SEVEN)
      expect(await scheduleRelay.stats(agentId)).toMatchObject({
        wakesToday: 0,
        stoppedBy: expect.not.stringMatching('cooldown') as unknown,
      });
  });

  it('wakes all for one message that mentions them, each counted as a wake', async () => {
    const made = await scheduleRelay.tool(LYRA, 'create_thread', { title: 'Moon', participants: SEVEN });
    await expect.poll(awake, { timeout: 5 * WINDOW_SECONDS * 1_000 }).toEqual(SEVEN);
    for (const agentId of SEVEN) await putToSleep(agentId);
    await scheduleRelay.pass(10 * WINDOW_SECONDS * 1_000);
    const threadId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(made)?.[0] ?? '';
    const said = await scheduleRelay.tool(LYRA, 'send_message_to_thread', {
      threadId,
      message: 'Look.',
      mentions: SEVEN,
    });
    expect(said).not.toContain('Suppressed');
    await expect.poll(awake, { timeout: 5 * WINDOW_SECONDS * 1_000 }).toEqual(SEVEN);
    expect((await scheduleRelay.stats('a2')).wakesToday).toBe(1);
  });

  it('wake when a blackout is over that had begun before the thread', async () => {
    const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
    const dark = {
      type: 'one_off',
      label: 'rest',
      start_time: at(scheduleRelay.now() - 1_000),
      end_time: at(scheduleRelay.now() + 3_600_000),
    };
    await limits({ blackouts: [dark] });
    const told = await scheduleRelay.tool(LYRA, 'create_thread', { title: 'Rest', participants: ['a2'] });
    expect(told).toContain('is woken in its turn');
    expect(await isAsleep('a2')).toBe(true);
    await limits();
    await scheduleRelay.pass(2 * 3_600_000);
    // Another one looks at all that wait.
    await scheduleRelay.tool(LYRA, 'create_thread', { title: 'Rest again', participants: ['a3'] });
    await expect.poll(() => isAsleep('a2')).toBe(false);
  });

  it('are put to sleep and woken by an application as often as it likes', async () => {
    const set = await application();
    for (let n = 0; n < 5; n++) {
      expect(await set(true)).toBe(200);
      expect(await set(false), `time ${n + 1}`).toBe(200);
      expect(await isAsleep('a2')).toBe(false);
    }
    expect(await scheduleRelay.stats('a2')).toMatchObject({ wakesToday: 0, stoppedBy: null });
    await putToSleep('a2');
    await limits({ wakes_enabled: false });
    expect(await set(false)).toBe(409);
  });

  it('hold all their MCP and model requests, except the one for their identity', async () => {
    const client = await scheduleRelay.client('a2');
    await client.ping();
    const held = [
      client.listTools(),
      client.listResources(),
      client.listResourceTemplates(),
      client.readResource({ uri: 'roost://agent/state' }),
      client.callTool({ name: 'list_team', arguments: {} }),
      fetch(new URL(`/llm/${secrets.get('a2') ?? ''}/v1/models`, scheduleRelay.relay.url)),
      ask('a2'),
    ];
    const over = new Set<number>();
    for (const [n, one] of held.entries()) void one.finally(() => over.add(n)).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.ping();
    expect([...over]).toEqual([]);
    expect((await scheduleRelay.call('PUT', sleepingOf('a2'), { sleeping: false })).status).toBe(200);
    await Promise.all(held.map((one) => one.catch(() => undefined)));
    expect(over.size).toBe(held.length);
  });
});
