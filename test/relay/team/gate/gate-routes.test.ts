import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createDefaultRoutines } from '../../../../server/schedules/alone.ts';
import { createGateRoutes } from '../../../../server/team/gate/index.ts';
import { mount, type Env } from '../../../../server/http/endpoint.ts';
import { agentConfigAnswerSchema, householdConfigAnswerSchema } from '../../../../src/shared/protocol/config.ts';
import { problemSchema } from '../../../../src/shared/protocol/http.ts';
import { wakeFeedSchema, wakeStatsSchema } from '../../../../src/shared/protocol/wakes.ts';
import { createTestClock, createTestGate, request } from '../../../support/gate.ts';
import { storeFor } from '../../../support/store-for.ts';

const MORNING = Date.parse('2026-06-16T08:00:00Z');
const YAML = 'application/yaml';
const store = storeFor();

function open() {
  const household = createTestGate(store(), createTestClock(MORNING));
  const app = new Hono<Env>();
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    throw error;
  });
  const directory = {
    all: () =>
      Promise.resolve(['orin', 'lyra'].map((agentId) => ({ agentId, name: agentId, position: null, retired: false }))),
  };
  // Nothing is scheduled here.
  const none = { get: () => Promise.resolve(null), freeName: () => Promise.resolve('Pulse') };
  const schedules = { ...none, put: () => Promise.reject(new Error('Nothing is scheduled here.')) };
  const copies = { allow: () => Promise.resolve() };
  const defaultRoutines = createDefaultRoutines({ schedules, snapshots: copies, configs: household.configs });
  mount(app, createGateRoutes({ ...household, directory, defaultRoutines }));
  const get = (path: string, accept = 'application/json') => app.request(path, { headers: { accept } });
  const put = (path: string, body: string, type = 'application/json', accept = 'application/json') =>
    app.request(path, { method: 'PUT', body, headers: { 'content-type': type, accept } });
  const errorsOf = async (response: Response) =>
    problemSchema.parse(await response.json()).errors?.map(({ field }) => field);
  return { ...household, get, put, errorsOf };
}
/** What a program that knows the names looks at; the rest it passes on as it came. */
const knownNames = z.looseObject({
  coordination: z.looseObject({ wake_guardrails: z.looseObject({ max_wakes_per_day: z.number() }) }),
});
const ORIN = '/v1/agents/orin/config';

describe('settings', () => {
  it('take the names of other programs, and blackouts that say their kind', async () => {
    const { get, put, errorsOf } = open();
    const sleepEvents = ['agent_started'];
    const wakeEvents = ['mentioned'];
    for (const body of [
      { sleepEvents, wakeEvents },
      { coordination: { sleepEvents, wakeEvents } },
      { sleepEvents, coordination: { sleepEvents, sleep_events: sleepEvents, wake_events: wakeEvents } },
    ]) {
      await put(ORIN, '{}');
      expect((await put(ORIN, JSON.stringify(body))).status).toBe(200);
      const { own } = agentConfigAnswerSchema.parse(await (await get(ORIN)).json());
      expect(own).toEqual({ coordination: { sleep_events: sleepEvents, wake_events: wakeEvents } });
    }
    expect((await put('/v1/config', JSON.stringify({ wakeEvents }))).status).toBe(200);
    expect(householdConfigAnswerSchema.parse(await (await get('/v1/config')).json()).own).toEqual({
      coordination: { wake_events: wakeEvents },
    });
    expect(
      await errorsOf(await put(ORIN, JSON.stringify({ sleepEvents, coordination: { sleep_events: [] } }))),
    ).toEqual(['coordination.sleep_events']);
    expect(await errorsOf(await put(ORIN, JSON.stringify({ sleepEvents: ['yawned'] })))).toEqual(['sleepEvents.0']);

    const weekly = { type: 'recurring', label: 'Night', start_time: '22:00', end_time: '06:00', days: [5] };
    const once = { type: 'one_off', label: 'Away', start_time: '2026-12-24T18:00', end_time: '2026-12-27T08:00' };
    const untyped = { label: 'Noon', start_time: '12:00', end_time: '13:00', days: [] };
    expect((await put(ORIN, JSON.stringify({ coordination: { blackouts: [weekly, once, untyped] } }))).status).toBe(
      200,
    );
    expect(agentConfigAnswerSchema.parse(await (await get(ORIN)).json()).coordination.blackouts).toEqual([
      weekly,
      once,
      untyped,
    ]);
    const yaml = await (await get(ORIN, YAML)).text();
    expect((await put(ORIN, yaml, YAML)).status).toBe(200);
    const wrong: readonly (readonly [object, string])[] = [
      [{ ...once, end_time: once.start_time }, 'end_time'],
      [{ ...once, start_time: '18:00' }, 'start_time'],
      [{ ...once, start_time: '2026-02-30T18:00' }, 'start_time'],
      [{ ...weekly, start_time: '2026-12-24T18:00' }, 'start_time'],
      [{ ...weekly, type: 'sometimes' }, 'type'],
    ];
    for (const [blackout, field] of wrong)
      expect(
        await errorsOf(await put(ORIN, JSON.stringify({ coordination: { blackouts: [blackout] } }))),
        JSON.stringify(blackout),
      ).toEqual([`coordination.blackouts.0.${field}`]);
  });

  it('finds settings by an agent’s name too', async () => {
    const { get } = open();
    expect((await get('/v1/agents/Lyra/config')).status).toBe(200);
    expect((await get('/v1/agents/LYRA/wake-stats')).status).toBe(200);
    expect((await get('/v1/agents/nobody/config')).status).toBe(404);
  });

  it('say what was set and what holds, the agent’s over the household’s over Roost’s', async () => {
    const { get, put } = open();
    const before = agentConfigAnswerSchema.parse(await (await get(ORIN)).json());
    expect(before.own).toEqual({ coordination: {} });
    expect(before.coordination.wake_guardrails).toEqual({
      cooldown_seconds: 300,
      max_daily_session_minutes: 120,
      max_wakes_per_day: 12,
      max_wakes_per_pair_per_day: 5,
      max_wakes_per_session: 3,
    });
    expect(before.coordination.max_concurrent_pulse_sessions).toBe(2);
    await put(
      '/v1/config',
      JSON.stringify({
        coordination: { wake_guardrails: { cooldown_seconds: 900, max_wakes_per_day: 4 } },
        time_zone: 'America/Havana',
        flood_guard: { max_wakes: 2 },
      }),
    );
    const set = await put(ORIN, JSON.stringify({ coordination: { wake_guardrails: { max_wakes_per_day: 0 } } }));
    expect(set.status).toBe(200);
    const after = agentConfigAnswerSchema.parse(await set.json());
    expect(after.own).toEqual({ coordination: { wake_guardrails: { max_wakes_per_day: 0 } } });
    expect(after.coordination).toEqual(after.effective.coordination);
    expect(after.coordination.wake_guardrails).toMatchObject({
      cooldown_seconds: 900,
      max_wakes_per_day: 0,
      max_wakes_per_pair_per_day: 5,
    });
    expect(after.effective).toMatchObject({
      time_zone: 'America/Havana',
      flood_guard: { max_wakes: 2, window_seconds: 60 },
      wakes_enabled: true,
    });
    const household = householdConfigAnswerSchema.parse(await (await get('/v1/config')).json());
    expect(household).toMatchObject({
      time_zone: 'America/Havana',
      own: { time_zone: 'America/Havana', flood_guard: { max_wakes: 2 } },
    });
    expect(household.coordination.wake_guardrails.max_wakes_per_day).toBe(4);
  });

  it('accepts settings back in the form of its answer', async () => {
    const { get, put } = open();
    for (const path of [ORIN, '/v1/config']) {
      const answer = knownNames.parse(await (await get(path)).json());
      answer.coordination.wake_guardrails.max_wakes_per_day = 7;
      const set = await put(path, JSON.stringify(answer));
      expect(set.status).toBe(200);
      expect(knownNames.parse(await set.json()).coordination.wake_guardrails.max_wakes_per_day).toBe(7);
    }
  });

  it('refuses settings based on an outdated answer, and accepts one of two at once', async () => {
    const { get, put } = open();
    for (const path of [ORIN, '/v1/config']) {
      const read = async () => knownNames.parse(await (await get(path)).json());
      const set = (answer: z.infer<typeof knownNames>, wakes: number) => {
        const guardrails = { ...answer.coordination.wake_guardrails, max_wakes_per_day: wakes };
        return put(path, JSON.stringify({ ...answer, coordination: { wake_guardrails: guardrails } }));
      };
      const first = await read();
      const statuses = (await Promise.all([5, 6, 7].map(async (wakes) => set(first, wakes)))).map(
        ({ status }) => status,
      );
      expect(statuses.toSorted()).toEqual([200, 409, 409]);
      const held = 5 + statuses.indexOf(200);
      const late = await set(first, 8);
      expect(problemSchema.parse(await late.json()).type).toBe('about:roost/changed-elsewhere');
      const second = await read();
      expect(second.coordination.wake_guardrails.max_wakes_per_day).toBe(held);
      expect((await set(second, 9)).status).toBe(200);
      // Without a version it is set whatever holds.
      expect((await put(path, '{}')).status).toBe(200);
    }
  });

  it('reads and writes settings as YAML', async () => {
    const { get, put } = open();
    const pasted =
      'coordination:\n  # a calm one\n  wake_guardrails: {max_wakes_per_day: 4}\n  blackouts:\n    - label: night\n      start_time: 22:00\n      end_time: 06:00\n';
    const set = await put(ORIN, pasted, `${YAML}; charset=utf-8`, YAML);
    expect(set.status).toBe(200);
    expect(set.headers.get('content-type')).toContain(YAML);
    const copied = await (await get(ORIN, YAML)).text();
    expect(copied).toBe(await set.text());
    expect(copied).toContain('max_wakes_per_day: 4 # set here');
    expect(copied).toContain('cooldown_seconds: 300\n');
    const { own, effective, version, ...holds } = agentConfigAnswerSchema.parse(await (await get(ORIN)).json());
    const { coordination } = holds;
    expect(effective.coordination).toEqual(coordination);
    expect(copied).not.toContain(`version: ${version}`);
    expect(own.coordination.wake_guardrails).toEqual({ max_wakes_per_day: 4 });
    expect(parse(copied)).toEqual({ ...holds, whole: true });
    expect(coordination.blackouts).toEqual([{ label: 'night', start_time: '22:00', end_time: '06:00', days: [] }]);
    expect((await put('/v1/config', await (await get('/v1/config', YAML)).text(), YAML)).status).toBe(200);
  });

  it.each([
    [
      'a part of a number',
      { coordination: { wake_guardrails: { cooldown_seconds: 1.5 } } },
      'coordination.wake_guardrails.cooldown_seconds',
    ],
    [
      'less than none',
      { coordination: { max_concurrent_pulse_sessions: -1 } },
      'coordination.max_concurrent_pulse_sessions',
    ],
    [
      'more than the bound',
      { coordination: { wake_guardrails: { max_wakes_per_day: 1_001 } } },
      'coordination.wake_guardrails.max_wakes_per_day',
    ],
    [
      'text for a number',
      { coordination: { wake_guardrails: { max_wakes_per_day: '4' } } },
      'coordination.wake_guardrails.max_wakes_per_day',
    ],
    [
      'a time that is none',
      { coordination: { blackouts: [{ start_time: '24:00', end_time: '06:00' }] } },
      'coordination.blackouts.0.start_time',
    ],
    ['a name that nobody knows', { coordination: { wake_guardrail: {} } }, 'coordination'],
  ])('name the field that does not fit: %s', async (_, body, field) => {
    const { put, errorsOf, configs } = open();
    for (const [text, type] of [
      [JSON.stringify(body), 'application/json'],
      [JSON.stringify(body), YAML],
    ] as const) {
      const response = await put(ORIN, text, type);
      expect(response.status).toBe(400);
      expect(await errorsOf(response)).toEqual([field]);
    }
    expect((await configs.agent('orin')).own).toEqual({ coordination: {} });
  });

  it('refuse a zone that is none, and what is no YAML, too large, or neither', async () => {
    const { put, errorsOf } = open();
    expect(await errorsOf(await put('/v1/config', '{"time_zone":"Nowhere/At_All"}'))).toEqual(['time_zone']);
    for (const text of [
      'a: [1',
      'a: 1\na: 2',
      'a: *nobody',
      'a: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]',
    ]) {
      const response = await put(ORIN, text, YAML);
      expect(response.status).toBe(400);
      expect(await errorsOf(response)).toEqual(['body']);
    }
    expect((await put(ORIN, `{"x":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
    expect((await put(ORIN, 'x', 'text/plain')).status).toBe(415);
  });
});

describe('what can be asked of the gate', () => {
  it('stats have the names that people know, and ours beside them', async () => {
    const { gate, get } = open();
    const path = '/v1/agents/orin/wake-stats';
    expect(await (await get(path)).json()).toMatchObject({
      wakesToday: 0,
      maxWakesPerDay: 12,
      cooldownSeconds: 300,
      lastWakeTime: null,
      maxDailySessionMinutes: 120,
    });
    await gate.ask(request());
    expect(wakeStatsSchema.parse(await (await get(path)).json())).toEqual({
      wakesToday: 1,
      maxWakesPerDay: 12,
      cooldownSeconds: 300,
      lastWakeTime: MORNING,
      maxDailySessionMinutes: 120,
      minutesToday: 0,
      bySource: { lyra: 1 },
      running: 1,
      nextWakeTime: MORNING + 300_000,
      stoppedBy: 'cooldown',
    });
  });

  it('the feed comes in pages', async () => {
    const { gate, get } = open();
    for (let i = 0; i < 3; i++) await gate.ask(request({ messageId: `m${i}` }));
    const feed = async (query: string) => wakeFeedSchema.parse(await (await get(`/api/wakes?${query}`)).json());
    const first = await feed('limit=2');
    expect(first).toMatchObject({ wakes: [{ messageId: 'm2' }, { messageId: 'm1' }], more: true });
    expect(await feed(`before=${first.wakes[1]?.decisionId ?? ''}&agent=orin`)).toMatchObject({
      wakes: [{ messageId: 'm0', outcome: 'granted' }],
      more: false,
    });
    expect((await feed('agent=lyra')).wakes).toEqual([]);
    expect((await get('/api/wakes?limit=0')).status).toBe(400);
    expect((await get('/api/wakes?before=a%00b')).status).toBe(404);
  });

  it.each(['config', 'wake-stats'])('%s of an agent that nobody knows is a 404', async (what) => {
    const { get, put } = open();
    expect((await get(`/v1/agents/nobody/${what}`)).status).toBe(404);
    if (what === 'config') expect((await put('/v1/agents/nobody/config', '{}')).status).toBe(404);
  });
});
