import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../../server/store/index.ts';
import { createTestClock, createTestGate, newRelay, request } from '../../../support/gate.ts';
import { programOf } from '../../../support/relay-build.ts';
import { createStorePlace, STORES, type StorePlace } from '../../../support/stores.ts';

const SECOND = 1_000;
const MORNING = Date.parse('2026-06-16T08:00:00Z');
const ONE_LEFT = {
  coordination: {
    max_concurrent_pulse_sessions: 16,
    wake_guardrails: {
      cooldown_seconds: 0,
      max_wakes_per_day: 2,
      max_wakes_per_pair_per_day: 1_000,
      max_wakes_per_session: 100,
    },
  },
  flood_guard: { max_wakes: 1_000 },
};

let place: StorePlace;
let store: Store;
const children: ChildProcess[] = [];

async function startAsker(relay: string) {
  const child = spawn(
    process.execPath,
    [await programOf('test/support/gate-asker.ts'), place.databaseUrl ?? '', relay],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => z.string().parse((await lines.next()).value);
  expect(JSON.parse(await line())).toBe('ready');
  return {
    async ask(count: number) {
      child.stdin.write(`${count}\n`);
      return z.array(z.string()).parse(JSON.parse(await line()));
    },
    kill: () =>
      new Promise<void>((resolve) => {
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

describe('two relay processes on one Postgres', () => {
  beforeAll(async () => {
    place = await createStorePlace('postgres');
    store = await place.open();
  });
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  it('grant one of fifty requests at once for the last wake of the day, and remember it when they are killed', async () => {
    const relay = newRelay();
    const { configs, gate } = createTestGate(
      store,
      { ...createTestClock(0), now: Date.now },
      { home: relay, timeZone: 'UTC' },
    );
    await configs.setHousehold(ONE_LEFT);
    const [one, other] = await Promise.all([startAsker(relay), startAsker(relay)]);
    expect(await one.ask(1)).toEqual(['granted']);
    const all = (await Promise.all([one.ask(25), other.ask(25)])).flat();
    expect(all.filter((outcome) => outcome === 'granted')).toHaveLength(1);
    expect(all.filter((outcome) => outcome === 'daily')).toHaveLength(49);
    await Promise.all([one.kill(), other.kill()]);
    const again = await startAsker(relay);
    expect(await again.ask(3)).toEqual(['daily', 'daily', 'daily']);
    expect(await gate.stats('orin')).toMatchObject({
      wakesToday: 2,
      maxWakesPerDay: 2,
      bySource: { lyra: 2 },
      stoppedBy: 'daily',
    });
    const { wakes } = await gate.feed({ before: null, limit: 100, agentId: null });
    expect(wakes).toHaveLength(54);
  });

  it('decide anew where the other one has decided meanwhile, and where it has turned the switch', async () => {
    const relay = newRelay();
    const clock = createTestClock(MORNING);
    const other = createTestGate(store, clock, { home: relay });
    await other.configs.setHousehold(ONE_LEFT);
    await other.gate.ask(request());
    /** Runs once, when the first has read what it decides on, and has not written. */
    let meanwhile: (() => Promise<unknown>) | null = null;
    const db = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => 'what' in row)) {
          const run = meanwhile;
          meanwhile = null;
          await run?.();
        }
        return result;
      },
    });
    const one = createTestGate({ db, kind: 'postgres' }, clock, { home: relay });
    meanwhile = async () => {
      expect((await other.gate.ask(request())).decision.outcome).toBe('granted');
    };
    expect((await one.gate.ask(request())).decision.check).toBe('daily');
    const again = { max_wakes_per_day: 9, cooldown_seconds: 0, max_wakes_per_pair_per_day: 9 };
    await other.configs.setHousehold({ coordination: { ...ONE_LEFT.coordination, wake_guardrails: again } });
    meanwhile = () => other.configs.setAgent('orin', { coordination: { wakes_enabled: false } });
    expect((await one.gate.ask(request())).decision).toMatchObject({ outcome: 'suppressed', check: 'disabled' });
    expect((await other.gate.feed({ before: null, limit: 9, agentId: null })).wakes).toHaveLength(4);
  });

  it('leave what runs in the other one alone while it lives, and end it with its last sign of life when it does not', async () => {
    const relay = newRelay();
    const clock = createTestClock(MORNING);
    const one = createTestGate(store, clock, { home: relay });
    const other = createTestGate(store, clock, { home: relay });
    const { decision, permit } = await one.gate.ask(request());
    // Two signs of life, the last after ten seconds.
    for (let beats = 1; beats <= 2; beats++) {
      clock.pass(5 * SECOND);
      one.timers.advance(5 * SECOND);
      await expect
        .poll(
          async () =>
            (
              await store.db
                .selectFrom('wake_sessions')
                .select('seen_at')
                .where('wake', '=', decision.decisionId)
                .executeTakeFirstOrThrow()
            ).seen_at,
        )
        .toBe(clock.now());
      await expect.poll(() => one.timers.waiting()).toEqual([5 * SECOND]);
    }
    clock.pass(19 * SECOND);
    await other.gate.recover();
    expect(await other.gate.stats('orin')).toMatchObject({ running: 1 });
    clock.pass(SECOND);
    // Dead, as the other sees it, from its last sign of life on, whether it has been written or
    // not.
    expect(await other.gate.stats('orin')).toMatchObject({ running: 0, minutesToday: 10 / 60 });
    await other.gate.recover();
    expect(await other.gate.stats('orin')).toMatchObject({ running: 0, minutesToday: 10 / 60 });
    // It was only slow: it says so itself, and runs on until its end.
    expect(await one.gate.stats('orin')).toMatchObject({ running: 0 });
    clock.pass(5 * SECOND);
    one.timers.advance(5 * SECOND);
    await expect.poll(async () => (await other.gate.stats('orin')).running).toBe(1);
    await permit?.release();
    expect(await other.gate.stats('orin')).toMatchObject({ running: 0, minutesToday: 35 / 60 });
    expect(one.timers.waiting()).toEqual([]);
  });
});

describe.each(STORES)('a relay on %s that starts again', (kind) => {
  let own: StorePlace;
  beforeAll(async () => {
    own = await createStorePlace(kind);
  });
  afterAll(() => own.remove());

  it('counts what an earlier one has left, ends its sessions, and keeps every decision', async () => {
    const relay = newRelay();
    const clock = createTestClock(MORNING);
    const first = await own.open();
    const before = createTestGate(first, clock, { home: relay });
    await before.configs.setAgent('orin', { coordination: { wake_guardrails: { max_wakes_per_day: 1 } } });
    await before.gate.ask(request());
    clock.pass(5 * SECOND);
    before.timers.advance(5 * SECOND);
    await expect.poll(() => before.timers.waiting()).toEqual([5 * SECOND]);
    // Not closed: as after a kill.
    await first.close();
    clock.pass(300 * SECOND);
    const second = await own.open();
    const after = createTestGate(second, clock, { home: relay });
    await after.gate.recover();
    expect(await after.gate.stats('orin')).toMatchObject({
      wakesToday: 1,
      running: 0,
      minutesToday: 5 / 60,
      lastWakeTime: MORNING,
      stoppedBy: 'daily',
    });
    expect((await after.gate.ask(request())).decision.check).toBe('daily');
    expect(
      (await after.gate.feed({ before: null, limit: 9, agentId: null })).wakes.map(({ outcome }) => outcome),
    ).toEqual(['suppressed', 'granted']);
    // Two days later all of it is still there.
    clock.pass(48 * 3_600 * SECOND);
    expect(await after.gate.stats('orin')).toMatchObject({
      wakesToday: 0,
      lastWakeTime: MORNING,
      stoppedBy: null,
      nextWakeTime: clock.now(),
    });
    expect((await after.gate.feed({ before: null, limit: 9, agentId: null })).wakes).toHaveLength(2);
    await after.gate.close();
    await second.close();
  });
});
