/**
 * What is due without anybody there, by HTTP, through a whole relay that is killed and started
 * again.
 */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { timelineSchema } from '../../../src/shared/protocol/endpoints/schedules.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { wakeFeedSchema } from '../../../src/shared/protocol/wakes.ts';
import { createHome, startRelay, type TestRelay } from '../../support/relay.ts';
import { openEventSource } from '../../support/event-source.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import type { SignIn } from '../../support/sign-in.ts';
import { startScriptedModel, type ScriptedModel } from '../../support/scripted-model.ts';

const SOUL = 'I am the soul that must not lie about in the open 7f3a91.';
const ROUTINE = {
  kind: 'routine',
  agentId: 'a1',
  name: 'Morning round',
  instructions: 'Look around.',
  timing: { kind: 'weekly', days: [1, 2, 3, 4, 5], time: '07:30' },
};
const listSchema = z.object({ schedules: z.array(z.object({ scheduleId: z.string() })) });
const historySchema = z.object({ occurrences: z.array(occurrenceSchema) });
const pageSchema = z.object({
  occurrences: z.array(occurrenceSchema).optional(),
  runs: z.array(occurrenceSchema).optional(),
  more: z.boolean(),
});

let model: ScriptedModel;
let relay: TestRelay;
let home: string;
const start = (signIn?: SignIn) =>
  startRelay({
    home,
    ...(signIn ? { signIn } : {}),
    // Without `bwrap`, scripts run without a sandbox: that one would die with its relay.
    args: ['--scripts'],
    env: { PATH: '/nowhere', ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
const call = (method: string, path: string, json?: unknown) =>
  relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
const team = (retired = false, ...others: readonly string[]) =>
  call('PUT', '/api/team', {
    agents: [
      { agentId: 'a1', name: 'Lyra', position: retired ? null : 0, retired },
      ...others.map((agentId, i) => ({ agentId, name: agentId, position: i + 1, retired: false })),
    ],
  });
async function add(more: object = {}) {
  const added = await call('POST', '/v1/pulse-routines', { ...ROUTINE, ...more });
  expect(added.status).toBe(201);
  return scheduledSchema.parse(await added.json());
}
const leave = () =>
  call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: { ...SNAPSHOT, soul: SOUL } }).then(
    ({ status }) => status,
  );
async function historyOf(scheduleId: string) {
  const answer = await call('GET', `/v1/pulse-routines/${scheduleId}/history`);
  return historySchema.parse(await answer.json()).occurrences;
}

/** An agent’s folder. */
async function workspace(agentId = 'a1') {
  const { relay: id } = z
    .object({ relay: z.string() })
    .parse(JSON.parse(await readFile(join(home, 'roost.json'), 'utf8')));
  const folder = join(home, 'workspaces', id, agentId);
  await mkdir(folder, { recursive: true });
  return folder;
}

beforeAll(async () => {
  model = await startScriptedModel(() => []);
  home = await createHome({ store: 'sqlite' });
  relay = await start();
});
beforeEach(async () => {
  model.follow(() => [{ say: 'I looked around.' }]);
  await team();
});
/** One relay for all: what a test wrote is gone before the next. */
afterEach(async () => {
  const { schedules } = listSchema.parse(await (await call('GET', '/v1/pulse-routines')).json());
  for (const { scheduleId } of schedules) await call('DELETE', `/v1/pulse-routines/${scheduleId}`);
  expect((await call('PUT', '/v1/agents/a1/config', { coordination: {}, pulse_blackouts: [] })).status).toBe(200);
});
afterAll(async () => {
  await relay.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

describe('routines by HTTP', () => {
  it('answers 200 or 404 to a switch at the moment at which the routine is removed', async () => {
    for (let n = 0; n < 20; n++) {
      const { scheduleId } = await add({ name: `Round ${n}` });
      const [toggled, removed] = await Promise.all([
        call('POST', `/v1/pulse-routines/${scheduleId}/toggle`),
        call('DELETE', `/v1/pulse-routines/${scheduleId}`),
      ]);
      expect([200, 404]).toContain(toggled.status);
      expect(removed.status).toBe(204);
    }
  });

  it('adds, changes, switches, runs, copies, orders and removes a routine', async () => {
    expect(await leave()).toBe(204);
    const { scheduleId, nextAt, schedule } = await add({ agentId: 'Lyra', catch_up: 'skip' });
    expect(schedule).toMatchObject({ catch_up: 'skip' });
    expect(nextAt).toBeGreaterThan(Date.now());
    expect(await (await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`)).json()).toMatchObject({
      nextAt: null,
    });
    expect(await (await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`)).json()).toMatchObject({ nextAt });
    expect((await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).status).toBe(202);
    await expect.poll(async () => (await historyOf(scheduleId))[0]?.state).toBe('done');
    expect(await historyOf(scheduleId)).toMatchObject([{ said: 'I looked around.', kind: 'routine' }]);
    expect((await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).status).toBe(202);
    await expect.poll(async () => (await historyOf(scheduleId)).map(({ state }) => state)).toEqual(['done', 'done']);
    const page = async (path: string) => pageSchema.parse(await (await call('GET', path)).json());
    const newest = await page(`/v1/pulse-routines/${scheduleId}/history?limit=1`);
    const oldest = await page(
      `/v1/pulse-routines/${scheduleId}/history?limit=1&before=${newest.occurrences?.[0]?.dueAt}`,
    );
    expect([newest.more, oldest.more]).toEqual([true, false]);
    expect([newest, oldest].flatMap(({ occurrences = [] }) => occurrences)).toEqual(await historyOf(scheduleId));
    const [one, all] = [await page('/v1/runs?agent=a1&limit=1'), await page('/v1/runs?agent=a1')];
    expect([one.runs?.length, one.more, all.more]).toEqual([1, true, false]);
    const doubled = await call('POST', `/v1/pulse-routines/${scheduleId}/duplicate`);
    const other = scheduledSchema.parse(await doubled.json());
    expect(other).toMatchObject({ nextAt: null, schedule: { name: 'Morning round (2)', enabled: false } });
    const order = { scheduleIds: [other.scheduleId, scheduleId] };
    expect((await call('PUT', '/v1/pulse-routines-order', order)).status).toBe(204);
    expect(await (await call('GET', '/v1/pulse-routines')).json()).toMatchObject({
      schedules: [{ scheduleId: other.scheduleId }, { scheduleId }],
    });
    const timeline = timelineSchema.parse(await (await call('GET', '/v1/pulses/timeline?hours=168')).json());
    expect(timeline.moments.length).toBeGreaterThanOrEqual(5);
    expect(timeline.moments[0]).toMatchObject({ scheduleId, at: nextAt });
    expect(timeline.most.runs).toBe(timeline.moments.length);
    expect((await call('DELETE', `/v1/pulse-routines/${scheduleId}`)).status).toBe(204);
    expect((await call('DELETE', `/v1/pulse-routines/${scheduleId}`)).status).toBe(404);
  });

  it.each([
    ['a cron text that is none', { timing: { kind: 'cron', cron: '61 * * * *' } }, 'timing.cron'],
    ['a zone that is none', { timing: { kind: 'cron', cron: '* * * * *', zone: 'Nowhere/City' } }, 'timing.zone'],
    ['a past time', { timing: { kind: 'once', at: 1_000 } }, 'timing.at'],
    ['an interval of 0', { timing: { kind: 'every', minutes: 0 } }, 'timing.minutes'],
    [
      'an offset that is no part of its interval',
      { timing: { kind: 'every', minutes: 5, offset: 5 } },
      'timing.offset',
    ],
    ['a time-out below a second', { timeoutMs: 10 }, 'timeoutMs'],
    ['a field that nobody knows', { timeout: 10 }, 'body'],
    ['a field in another spelling', { catchUp: 'skip' }, 'body'],
    ['a column, where there are no tasks yet', { columns: ['ready'] }, 'columns'],
    ['a tool that is none', { tools: ['message_agent', 'fly'] }, 'tools'],
    ['a script that is not there', { kind: 'script', script: 'none.sh', instructions: undefined }, 'script'],
    ['a script beside the folder', { kind: 'script', script: '../out.sh', instructions: undefined }, 'script'],
    ['a link that leads out of it', { kind: 'script', script: 'link.sh', instructions: undefined }, 'script'],
  ])('refuse %s, name the field, and change nothing', async (_what, more, field) => {
    const folder = await workspace();
    await writeFile(join(folder, '..', 'out.sh'), 'exit 0');
    await symlink('../out.sh', join(folder, 'link.sh')).catch(() => undefined);
    const answer = await call('POST', '/v1/pulse-routines', { ...ROUTINE, ...more });
    expect(answer.status).toBe(400);
    const { errors } = problemSchema.parse(await answer.json());
    expect(errors?.map((each) => each.field)).toEqual([field]);
    expect(await (await call('GET', '/v1/pulse-routines')).json()).toEqual({
      schedules: [],
      scripts: true,
      ownHosts: true,
    });
  });

  it('refuse a name that is there', async () => {
    await add();
    const { timing, name } = ROUTINE;
    for (const other of [ROUTINE, { kind: 'script', agentId: 'a1', name, script: 'look.sh', timing, enabled: false }]) {
      const answer = await call('POST', '/v1/pulse-routines', other);
      expect(answer.status).toBe(400);
      expect(problemSchema.parse(await answer.json()).errors).toMatchObject([{ field: 'name' }]);
    }
  });

  it('refuses to replace a script or reminder of the same name', async () => {
    const { timing } = ROUTINE;
    const script = { kind: 'script', name: 'Look', timing, enabled: false, instructions: undefined };
    const { scheduleId } = await add({ ...script, script: 'look.sh' });
    expect(await add({ ...script, script: 'other.sh' })).toMatchObject({
      scheduleId,
      schedule: { script: 'other.sh' },
    });
    const reminder = { kind: 'reminder', agentId: 'a1', name: 'Tea', timing: { kind: 'once', at: Date.now() + 1e8 } };
    for (const message of ['Drink it.', 'Pour it away.'])
      expect((await call('POST', '/v1/pulse-routines', { ...reminder, message })).status).toBe(201);
    const { schedules } = z
      .object({ schedules: z.array(scheduledSchema) })
      .parse(await (await call('GET', '/v1/pulse-routines')).json());
    expect(schedules).toMatchObject([{ scheduleId }, { schedule: { message: 'Pour it away.' } }]);
  });
});

describe('an agent’s settings', () => {
  const config = async () => (await (await call('GET', '/v1/agents/a1/config')).json()) as Record<string, unknown>;
  it('make and change its default routine, which is among the others', async () => {
    expect(await config()).toMatchObject({
      pulse_enabled: false,
      pulse_interval_minutes: 30,
      pulse_max_consecutive_skips: 5,
      pulse_container_timeout_ms: 120_000,
    });
    const blackouts = [{ label: 'night', start_time: '22:00', end_time: '06:00', type: 'recurring', days: [] }];
    const put = (more: object) => call('PUT', '/v1/agents/a1/config', { coordination: {}, ...more });
    expect((await put({ pulse_enabled: true, pulse_interval_minutes: 45, pulse_offset_minutes: 7 })).status).toBe(200);
    const list = async () =>
      (await (await call('GET', '/v1/pulse-routines')).json()) as { schedules: { scheduleId: string }[] };
    expect(await list()).toMatchObject({
      schedules: [
        {
          offset: 7,
          schedule: { agentId: 'a1', name: 'Pulse', enabled: true, when: 'something_waits', timing: { minutes: 45 } },
        },
      ],
    });
    expect((await put({ pulse_blackouts: blackouts, pulse_container_timeout_ms: 5_000 })).status).toBe(200);
    // What is left out of the pulse stays as it is, and what the person does to the routine is told
    // here.
    expect(await config()).toMatchObject({
      pulse_enabled: true,
      pulse_interval_minutes: 45,
      pulse_blackouts: blackouts,
      coordination: { blackouts },
      pulse_container_timeout_ms: 5_000,
    });
    const [pulse] = (await list()).schedules;
    await call('POST', `/v1/pulse-routines/${pulse?.scheduleId}/toggle`);
    expect(await config()).toMatchObject({ pulse_enabled: false, pulse_interval_minutes: 45 });
    // An answer can be sent back as it is.
    expect((await call('PUT', '/v1/agents/a1/config', await config())).status).toBe(200);
    expect(await config()).toMatchObject({ pulse_enabled: false, pulse_offset_minutes: 7 });
  });

  it.each([
    [{ pulse_columns: 'ready' }, 'pulse_columns'],
    [{ pulse_transitions_to: 'doing' }, 'pulse_transitions_to'],
    [{ pulse_interval_minutes: 10, pulse_offset_minutes: 10 }, 'pulse_offset_minutes'],
    [{ pulse_max_consecutive_skips: 0 }, 'pulse_max_consecutive_skips'],
  ])('refuse %s, which would be passed over', async (more, field) => {
    const answer = await call('PUT', '/v1/agents/a1/config', { coordination: {}, ...more });
    expect(answer.status).toBe(400);
    const { errors } = problemSchema.parse(await answer.json());
    expect(errors?.map((each) => each.field)).toEqual([field]);
  });
});

describe('runs', () => {
  it('lists runs during and after, and lets one be watched and stopped', async () => {
    model.follow(() => [{ say: 'I have begun. ' }, { until: new Promise(() => undefined) }]);
    expect(await leave()).toBe(204);
    const { scheduleId } = await add();
    await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    const runsSchema = z.object({ runs: z.array(occurrenceSchema) });
    const runs = async () => runsSchema.parse(await (await call('GET', '/v1/runs?agent=Lyra')).json()).runs;
    await expect.poll(async () => (await runs())[0]).toMatchObject({ state: 'running', endedAt: null });
    const runId = (await runs())[0]?.runId ?? '';
    const stream = await openEventSource(async (signal) => await relay.fetch('/api/events?after=0', { signal }));
    await stream.until((all) =>
      all.some(({ event, data }) => event === 'text' && JSON.stringify(data).includes('I have begun.')),
    );
    stream.close();
    expect((await call('POST', `/v1/runs/${runId}/stop`)).status).toBe(202);
    await expect.poll(async () => (await runs())[0]).toMatchObject({ state: 'stopped', said: 'I have begun.' });
    expect((await call('POST', `/v1/runs/${runId}/stop`)).status).toBe(404);
    model.follow(({ results }) =>
      results.length > 0 ? [{ say: 'I went on.' }] : [{ say: 'I look.' }, { call: 'list_files', input: {} }],
    );
    const goOn = async (id: string) => (await call('POST', `/v1/runs/${id}/continue`)).status;
    expect(await goOn(runId)).toBe(202);
    await expect.poll(async () => (await runs())[0]).toMatchObject({ state: 'done', said: 'I look.\n\nI went on.' });
    expect([await goOn(runId), await goOn('nobody')]).toEqual([409, 404]);
  });
});

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('how a script ended', () => {
  it('says how a script ended: by itself, a signal, its time-out or the relay, and after how long', async () => {
    const folder = await workspace();
    const ids = new Map<string, string>();
    for (const [script, text, timeoutMs] of [
      ['ends.sh', 'exit 3', 60_000],
      ['dies.sh', 'kill -9 $$', 60_000],
      ['late.sh', 'sleep 600', 1_000],
      ['long.sh', 'sleep 600', 600_000],
    ] as const) {
      await writeFile(join(folder, script), text);
      const timing = { kind: 'every', minutes: 10_080 };
      const { scheduleId } = await add({
        ...{ kind: 'script', name: script, script, timing, timeoutMs },
        instructions: undefined,
      });
      ids.set(script, scheduleId);
      await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    }
    const endOf = async (script: string) => (await historyOf(ids.get(script) ?? ''))[0];
    await expect.poll(async () => (await endOf('late.sh'))?.state, { timeout: 20_000 }).toBe('timed-out');
    await expect.poll(async () => (await endOf('long.sh'))?.state).toBe('running');
    const signIn = await relay.signIn();
    await relay.stop();
    relay = await start(signIn);
    const ends = await Promise.all([...ids.keys()].map(endOf));
    expect(ends.map((end) => [end?.state, end?.detail])).toEqual([
      ['failed', expect.stringMatching(/^It ended with exit status 3 after \d+ s\.$/)],
      ['failed', expect.stringMatching(/^The signal SIGKILL stopped it after \d+ s\.$/)],
      ['timed-out', expect.stringMatching(/^The relay stopped it after \d+ s: it may take 1 s and no longer\.$/)],
      ['stopped', expect.stringMatching(/^The relay stopped it after \d+ s: the relay was ended\.$/)],
    ]);
  });
});

describe('a relay that is killed in the middle of a run', () => {
  it('ends it once, keeps its words, and does not begin with it again; a script that it left behind is ended, and wakes its agent once', async () => {
    // Another agent’s: two, and one of them is to wake nobody.
    await team(false, 'a2');
    await call('PUT', '/api/agent-snapshots/a2', { version: 'v1', snapshot: SNAPSHOT });
    const folder = await workspace('a2');
    const scripts = new Map<string, string>();
    for (const [script, on_failure] of [
      ['ignored.sh', 'ignore'],
      ['told.sh', 'wake_agent'],
    ] as const) {
      await writeFile(join(folder, script), `sleep 600 & echo $! > ${script}.pid; sleep 600`);
      const timing = { kind: 'every', minutes: 10_080 };
      const { scheduleId } = await add({
        ...{ kind: 'script', agentId: 'a2', name: script, script, timing, timeoutMs: 600_000, on_failure },
        instructions: undefined,
      });
      scripts.set(script, scheduleId);
      await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    }
    const pidOf = async (script: string) =>
      Number(await readFile(join(folder, `${script}.pid`), 'utf8').catch(() => ''));
    for (const script of scripts.keys()) await expect.poll(() => pidOf(script)).toBeGreaterThan(1);
    const pids = await Promise.all([...scripts.keys()].map(pidOf));
    const before = model.requests.length;
    model.follow(() => [{ say: 'I have begun. ' }, { until: new Promise(() => undefined) }]);
    expect(await leave()).toBe(204);
    const { scheduleId } = await add();
    await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(() => model.requests.length).toBe(before + 1);
    await expect.poll(async () => (await historyOf(scheduleId))[0]?.state).toBe('running');
    const signIn = await relay.signIn();
    await relay.kill('SIGKILL');
    expect(pids.filter(isAlive)).toEqual(pids);
    model.follow(() => [{ say: 'I have seen it.' }]);
    relay = await start(signIn);
    expect(await historyOf(scheduleId)).toMatchObject([{ state: 'crashed' }]);
    await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`);
    for (const id of scripts.values())
      await expect
        // Beside its agent's own run, for whoever was told.
        .poll(async () => (await historyOf(id)).filter(({ runId }) => runId === null))
        .toMatchObject([{ state: 'crashed', detail: 'The relay stopped in the middle of it.' }]);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await expect.poll(() => model.requests.length).toBe(before + 2);
    const told = model.requests.at(-1)?.last;
    expect(told).toMatch(
      /Script told\.sh failed\. It is scheduled as “told\.sh”\. It was due .*, and the relay broke off while it ran\./,
    );
    expect(told).not.toContain('ignored.sh');
    const { wakes } = wakeFeedSchema.parse(await (await call('GET', '/api/wakes?agent=a2')).json());
    expect(wakes).toMatchObject([
      { outcome: 'granted', way: 'script_failure', source: { kind: 'script', name: 'told.sh' } },
    ]);
  });
});

describe('a standing copy', () => {
  it('lies in the store sealed, and is gone when it is taken back, with what needed it', async () => {
    expect(await leave()).toBe(204);
    const { scheduleId } = await add();
    expect(await (await call('GET', '/api/agent-snapshots')).json()).toMatchObject({
      snapshots: [{ agentId: 'a1', version: 'v1', soulChars: SOUL.length }],
      withdrawn: [],
    });
    const signIn = await relay.signIn();
    await relay.stop();
    for (const file of await readdir(home, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        expect(await readFile(join(file.parentPath, file.name), 'latin1'), file.name).not.toContain(SOUL);
    relay = await start(signIn);
    expect((await call('DELETE', '/api/agent-snapshots/a1')).status).toBe(204);
    expect(await (await call('GET', '/api/agent-snapshots')).json()).toEqual({ snapshots: [], withdrawn: ['a1'] });
    expect(await (await call('GET', `/v1/pulse-routines/${scheduleId}`)).json()).toMatchObject({ nextAt: null });
    expect((await call('DELETE', '/api/agent-snapshots/nobody')).status).toBe(404);
    // Switched on again, it may be left again.
    await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`);
    expect(await (await call('GET', '/api/agent-snapshots')).json()).toEqual({ snapshots: [], withdrawn: [] });
  });

  it('stops the run of a withdrawn snapshot, and refuses a page that compared before', async () => {
    model.follow(() => [{ say: 'I have begun. ' }, { until: new Promise(() => undefined) }]);
    const { scheduleId } = await add();
    expect(await leave()).toBe(204);
    await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(async () => (await historyOf(scheduleId))[0]?.state).toBe('running');
    const refused = async (version: string) => {
      const answer = await call('PUT', '/api/agent-snapshots/a1', { version, snapshot: SNAPSHOT });
      return [answer.status, problemSchema.parse(await answer.json()).type];
    };
    expect(await refused('a')).toEqual([409, 'about:roost/older-snapshot']);
    expect((await call('DELETE', '/api/agent-snapshots/a1')).status).toBe(204);
    await expect.poll(async () => (await historyOf(scheduleId))[0]).toMatchObject({ state: 'stopped' });
    expect(await refused('v2')).toEqual([409, 'about:roost/withdrawn']);
    // Also where none lies yet.
    await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`);
    expect((await call('DELETE', '/api/agent-snapshots/a1')).status).toBe(204);
    expect(await refused('v3')).toEqual([409, 'about:roost/withdrawn']);
    await call('POST', `/v1/pulse-routines/${scheduleId}/toggle`);
    expect(await leave()).toBe(204);
  });

  it('is removed with its agent', async () => {
    expect(await leave()).toBe(204);
    const { scheduleId } = await add();
    await team(true);
    await expect
      .poll(async () => await (await call('GET', '/api/agent-snapshots')).json())
      .toEqual({
        snapshots: [],
        withdrawn: [],
      });
    await expect
      .poll(async () => await (await call('GET', `/v1/pulse-routines/${scheduleId}`)).json())
      .toMatchObject({ nextAt: null });
  });
});
