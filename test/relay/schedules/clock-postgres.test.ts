/**
 * Two relays of one home on one Postgres, and the wall clock of one of them jumps: they go by the
 * database's clock, both.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createClock, createLeases } from '../../../server/schedules/clock.ts';
import { createScheduleRows } from '../../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../../server/schedules/settings.ts';
import { openDatabaseClock } from '../../../server/store/index.ts';
import { createDatabaseWatch } from '../../../server/store/database-watch.ts';
import { DATABASE_LIMITS } from '../../../server/store/settings.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { costsSchema } from '../../../src/shared/protocol/costs.ts';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { createManualTimers } from '../../support/manual-timers.ts';
import { browserOf, openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { createDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createHome } from '../../support/relay.ts';
import { SNAPSHOT, createHandClock, routine } from '../../support/schedules.ts';
import { startScriptedModel, type ScriptedModel } from '../../support/scripted-model.ts';
import { storeFor } from '../../support/store-for.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const historySchema = z.object({ occurrences: z.array(occurrenceSchema) });

describe('two relays of one home on one Postgres', () => {
  let database: TestDatabase;
  let model: ScriptedModel;
  let homes: readonly string[];
  let first: OpenRelay;
  let second: OpenRelay;
  /** One sign-in, at each of them. */
  let at: Readonly<Record<'first' | 'second', Browser>>;
  beforeAll(async () => {
    database = await createDatabase();
    model = await startScriptedModel(() => [{ say: 'Done.' }]);
    homes = [await createHome({ store: null }), await createHome({ store: null })];
    const [one = '', other = ''] = homes;
    const options = { databaseUrl: database.url, args: ['--model-addresses', 'any'] };
    first = await openTestRelay({ ...options, home: one });
    const own = await first.signIn();
    const json = { kind: 'server', address: model.url, key: 'sk-of-the-household' };
    expect((await own.fetch('/api/models', { method: 'POST', json })).status).toBe(201);
    for (const file of ['roost.json', 'sealing.key']) await cp(join(one, file), join(other, file));
    second = await openTestRelay({ ...options, home: other });
    const { cookie, key } = await own.signIn();
    const named = cookie.replace(/^roost_\d+=/, `roost_${new URL(second.url).port}=`);
    at = { first: own, second: browserOf(second.url, { cookie: named, key }) };
    const team = { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] };
    expect((await own.fetch('/api/team', { method: 'PUT', json: team })).status).toBe(204);
    expect(
      (await own.fetch('/api/agent-snapshots/a1', { method: 'PUT', json: { version: 'v1', snapshot: SNAPSHOT } }))
        .status,
    ).toBe(204);
  });
  afterAll(async () => {
    await first.close();
    await second.close();
    await model.close();
    await database.drop();
    await Promise.all(homes.map((home) => rm(home, { recursive: true, force: true })));
  });

  async function routineOf(browser: Browser, timing: object): Promise<string> {
    const json = { kind: 'routine', agentId: 'a1', name: crypto.randomUUID(), instructions: 'Work.', timing };
    return scheduledSchema.parse(await (await browser.fetch('/v1/pulse-routines', { method: 'POST', json })).json())
      .scheduleId;
  }
  const history = async (browser: Browser, scheduleId: string) =>
    historySchema.parse(await (await browser.fetch(`/v1/pulse-routines/${scheduleId}/history`)).json()).occurrences;
  let jumped = 0;
  const jump = (ms: number) => {
    jumped += ms;
    second.jump(ms);
  };
  afterEach(() => jump(-jumped));
  /** Has its clock look: something of what is due has changed. */
  async function check(browser: Browser, scheduleId: string): Promise<void> {
    for (let twice = 0; twice < 2; twice++)
      expect((await browser.fetch(`/v1/pulse-routines/${scheduleId}/toggle`, { method: 'POST' })).ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }

  it.each([
    ['forward an hour', HOUR],
    ['back an hour', -HOUR],
  ])(
    '%s: nobody takes over what the other is at, nothing is due early or twice, and the sign-in holds',
    async (_name, by) => {
      const release = createDeferred();
      model.follow(() => [{ say: 'I have begun. ' }, { until: release.promise }, { say: 'And I end.' }]);
      const scheduleId = await routineOf(at.first, { kind: 'weekly', days: [1], time: '07:30' });
      // Due within the hour, and not now.
      const soon = await routineOf(at.first, { kind: 'once', at: Date.now() + HOUR / 2 });
      const asked = model.requests.length;
      await at.first.fetch(`/v1/pulse-routines/${scheduleId}/trigger`, { method: 'POST' });
      await expect.poll(async () => (await history(at.first, scheduleId))[0]?.state).toBe('running');
      await expect.poll(() => model.requests.length).toBe(asked + 1);
      jump(by);
      expect((await at.second.fetch('/api/team')).status).toBe(200);
      await check(at.second, soon);
      await check(at.second, soon);
      expect((await history(at.second, scheduleId))[0]).toMatchObject({ state: 'running' });
      expect(await history(at.second, soon)).toEqual([]);
      release.resolve();
      await expect.poll(async () => (await history(at.second, scheduleId))[0]?.state).toBe('done');
      expect(await history(at.first, scheduleId)).toHaveLength(1);
      expect(model.requests).toHaveLength(asked + 1);
      await at.first.fetch(`/v1/pulse-routines/${soon}`, { method: 'DELETE' });
    },
  );

  it('keeps the snapshot of an agent that only the other relay has added', async () => {
    const snapshots = async () => JSON.stringify(await (await at.second.fetch('/api/agent-snapshots')).json());
    await at.second.fetch('/api/team');
    const agents = [
      { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
      { agentId: 'a2', name: 'Vega', position: 1, retired: false },
    ];
    expect((await at.first.fetch('/api/team', { method: 'PUT', json: { agents } })).status).toBe(204);
    const json = { version: 'v1', snapshot: SNAPSHOT };
    expect((await at.first.fetch('/api/agent-snapshots/a2', { method: 'PUT', json })).status).toBe(204);
    // With its own next event the second relay reads the events of the first.
    expect((await at.second.fetch('/v1/config', { method: 'PUT', json: { time_zone: 'Europe/Berlin' } })).ok).toBe(
      true,
    );
    await expect.poll(async () => JSON.stringify(await (await at.second.fetch('/api/team')).json())).toContain('Vega');
    expect(await snapshots()).toContain('a2');
  });

  it('forward over midnight: what was spent today is spent for both', async () => {
    model.follow(() => [{ say: 'Done.' }]);
    // The last hour of a day, somewhere, for some minutes yet.
    const hour = new Date(Date.now() + 2 * MINUTE).getUTCHours();
    const east = 23 - hour;
    const zone = east === 0 ? 'UTC' : east <= 14 ? `Etc/GMT-${east}` : `Etc/GMT+${24 - east}`;
    expect(
      (await at.first.fetch('/v1/config', { method: 'PUT', json: { time_zone: zone, daily_budget_usd: 0.000_001 } }))
        .ok,
    ).toBe(true);
    const spent = async (browser: Browser) => {
      const { agents } = costsSchema.parse(await (await browser.fetch('/api/costs?days=1')).json());
      return agents.find(({ agentId }) => agentId === 'a1')?.today.requests ?? 0;
    };
    const before = await spent(at.first);
    expect(before).toBeGreaterThan(0);
    jump(2 * HOUR);
    expect(await spent(at.second)).toBe(before);
    const scheduleId = await routineOf(at.second, { kind: 'weekly', days: [1], time: '07:30' });
    await at.second.fetch(`/v1/pulse-routines/${scheduleId}/trigger`, { method: 'POST' });
    await expect
      .poll(async () => (await history(at.second, scheduleId))[0])
      .toMatchObject({ state: 'skipped', reason: 'budget' });
  });
});

describe('the clock of a Postgres server', () => {
  it('goes on whatever the wall clock says, and is set anew where the machine was suspended, which is told', async () => {
    const timers = createManualTimers();
    let [database, wall, elapsed] = [1_000_000, 500_000, 0];
    let steps = 0;
    const clock = await openDatabaseClock({
      read: () => Promise.resolve(database),
      wall: () => wall,
      elapsed: () => elapsed,
      timers,
      limits: DATABASE_LIMITS,
      onStep: () => (steps += 1),
    });
    const pass = (ms: number) => {
      database += ms;
      wall += ms;
      elapsed += ms;
    };
    expect(clock.now()).toBe(1_000_000);
    pass(5_000);
    expect(clock.now()).toBe(1_005_000);
    wall += HOUR;
    for (let i = 0; i < 3; i++) {
      expect(clock.now()).toBe(1_005_000);
      await Promise.resolve();
    }
    expect(steps).toBe(0);
    // The monotonic clock stood still meanwhile.
    wall += HOUR;
    database += HOUR;
    clock.now();
    await expect.poll(() => clock.now()).toBe(1_005_000 + HOUR);
    expect(steps).toBe(1);
    clock.close();
  });
});

describe('a relay on a database that was away', () => {
  const store = storeFor();

  it('takes nobody for dead before others had the time to renew their leases', async () => {
    const time = createHandClock(Date.UTC(2026, 10, 23, 6));
    const timers = createManualTimers();
    let elapsed = 0;
    let isThere = true;
    const watch = createDatabaseWatch({
      probe: () => (isThere ? Promise.resolve() : Promise.reject(new Error('away'))),
      limits: { ...DATABASE_LIMITS, backoffMost: 250 },
      timers,
      elapsed: () => elapsed,
      random: () => 1,
    });
    const pass = (ms: number) => {
      time.pass(ms);
      elapsed += ms;
    };
    const home = crypto.randomUUID();
    const rows = createScheduleRows({ db: store().db, home, limits: SCHEDULE_LIMITS });
    await rows.write('s1', routine(), time.now(), null, 0);
    const row = await rows.get('s1');
    if (!row) throw new Error('It was written.');
    await rows.trigger(row, time.now());
    const held = await rows.claim(time.now(), 'of another relay', true);
    if (!held || !(await rows.begins(held, 'run-1', time.now()))) throw new Error('It was due.');
    const clock = createClock({
      rows,
      leases: createLeases({
        rows,
        database: watch,
        limits: SCHEDULE_LIMITS,
        timers,
        now: time.now,
        onError: () => undefined,
      }),
      alone: false,
      database: watch,
      now: time.now,
      newId: () => crypto.randomUUID(),
      timers: createManualTimers(),
      logger: { warn: () => undefined, error: () => undefined },
      limits: SCHEDULE_LIMITS,
      readZone: () => Promise.resolve('UTC'),
      readRules: () =>
        Promise.resolve({
          contextOf: () => ({ cron: { next: () => null } as never, zone: 'UTC', offset: 0 }),
          isDark: () => false,
        }),
      perform: () => Promise.reject(new Error('Nothing is due.')),
      endLeft: () => Promise.reject(new Error('There are no scripts.')),
      endsOf: () => Promise.resolve(new Map()),
      onPaused: () => undefined,
      onChange: () => undefined,
    });
    await clock.start();
    await clock.whenQuiet();
    pass(SCHEDULE_LIMITS.steadyMs + 1);
    isThere = false;
    await watch.doubt();
    expect(watch.state().kind).toBe('away');
    // For longer than the lease lasts.
    pass(2 * SCHEDULE_LIMITS.leaseMs);
    isThere = true;
    timers.advance(250);
    await expect.poll(() => watch.state().kind).toBe('there');
    const state = async () => (await rows.between(0, time.now(), { most: 1 }))[0]?.state;
    clock.wake();
    await clock.whenQuiet();
    expect(await state()).toBe('running');
    // It has had the time, and has not: it is dead.
    pass(SCHEDULE_LIMITS.steadyMs + SCHEDULE_LIMITS.checkMs);
    clock.wake();
    await clock.whenQuiet();
    expect(await state()).toBe('crashed');
    await clock.close(true);
    watch.close();
  });
});
