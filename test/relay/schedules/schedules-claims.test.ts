/**
 * Who may end a moment that was due: a relay that dies, one that hangs and comes back, two at once.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMeanwhile } from '../../../server/schedules/clock.ts';
import { createPerform } from '../../../server/schedules/perform.ts';
import { createScheduleRows, NO_DETAIL, type ScheduleRows } from '../../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../../server/schedules/settings.ts';
import type { Store } from '../../../server/store/index.ts';
import type { TimingContext } from '../../../src/shared/domain/schedule/timing.ts';
import { createCronClock } from '../../../src/shared/protocol/timing-arguments.ts';
import { scheduleSchema } from '../../../src/shared/protocol/schedules.ts';
import { routine } from '../../support/schedules.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 23, 6, 0);
const EVERY_TEN = { kind: 'every', minutes: 10, offset: 0 } as const;
const DONE = { state: 'done', reason: null } as const;

describe.each(STORES)('moments that are claimed, on %s', (kind) => {
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace(kind);
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  const contextOf = () => ({ cron: createCronClock(), zone: 'UTC', offset: 0 });
  const advanceBy = async (rows: ScheduleRows, now: number, by: () => TimingContext) => {
    const ids = (await rows.due(now)).map(({ scheduleId }) => scheduleId);
    await rows.advance(ids, { now, stops: [], contextOf: by, isDark: () => false });
  };
  const advance = async (rows: ScheduleRows, now: number) => {
    await advanceBy(rows, now, contextOf);
  };
  /** A routine of every ten minutes, with its first moment due. */
  async function open(catch_up: 'skip' | 'once' | 'each' = 'once') {
    const rows = createScheduleRows({ db: store.db, home: randomUUID(), limits: SCHEDULE_LIMITS });
    const schedule = routine({ timing: EVERY_TEN, catch_up });
    await rows.write('s1', schedule, START, START + 10 * MINUTE, 0);
    await advance(rows, START + 10 * MINUTE);
    return rows;
  }
  const states = async (rows: ScheduleRows, until: number) =>
    (await rows.between(0, until, { most: 1_000 })).map(({ dueAt, state }) => [(dueAt - START) / MINUTE, state]);
  const claim = async (rows: ScheduleRows, now: number) => {
    const claimed = await rows.claim(now, randomUUID(), true);
    if (!claimed) throw new Error('Nothing is due.');
    return claimed;
  };

  it('gives a claim to one of many', async () => {
    const rows = await open();
    const now = START + 10 * MINUTE;
    const claims = await Promise.all(Array.from({ length: 8 }, () => rows.claim(now, randomUUID(), true)));
    expect(claims.filter((each) => each !== null)).toHaveLength(1);
  });

  it('starts a moment again when its relay died before the start', async () => {
    const rows = await open();
    const now = START + 10 * MINUTE;
    const first = await claim(rows, now);
    await rows.recover(now, true, [], new Map());
    const second = await claim(rows, now);
    expect(second.dueAt).toBe(first.dueAt);
    // The first comes back: it may neither begin nor end what is not its own any more.
    expect(await rows.begins(first, 'run-1', now)).toBe(false);
    expect(await rows.begins(second, 'run-2', now)).toBe(true);
    expect(await rows.end(first, DONE, NO_DETAIL, now)).toBe(false);
    expect(await rows.end(second, DONE, NO_DETAIL, now)).toBe(true);
    expect(await rows.end(second, { state: 'failed', reason: null }, NO_DETAIL, now)).toBe(false);
    expect(await states(rows, now)).toEqual([[10, 'done']]);
  });

  it('marks a moment as crashed when its relay died during the run, and does not start it again', async () => {
    const rows = await open();
    const now = START + 10 * MINUTE;
    const dead = await claim(rows, now);
    await rows.begins(dead, 'run-1', now);
    await rows.recover(now + SCHEDULE_LIMITS.leaseMs / 2, false, [], new Map());
    expect(await states(rows, now)).toEqual([[10, 'running']]);
    await rows.recover(now + SCHEDULE_LIMITS.leaseMs + 1, false, [], new Map());
    expect(await states(rows, now)).toEqual([[10, 'crashed']]);
    expect(await rows.claim(now + 2 * MINUTE, randomUUID(), true)).toBeNull();
    expect(await rows.end(dead, DONE, NO_DETAIL, now)).toBe(false);
  });

  it("keeps a long run's claim alive by heartbeats", async () => {
    const rows = await open();
    const now = START + 10 * MINUTE;
    const live = await claim(rows, now);
    await rows.begins(live, 'run-1', now);
    for (let time = now; time < now + 5 * MINUTE; time += SCHEDULE_LIMITS.renewMs) {
      await rows.renew([live], time);
      await rows.recover(time, false, [], new Map());
    }
    expect(await rows.end(live, DONE, NO_DETAIL, now + 5 * MINUTE)).toBe(true);
  });

  it.each([
    ['skip', 0],
    ['once', 1],
    ['each', 2],
  ] as const)('makes up for moments that waited for hours as the schedule says: %s', async (catch_up, made) => {
    const rows = await open(catch_up);
    const dead = await claim(rows, START + 10 * MINUTE);
    const back = START + 8 * 60 * MINUTE + 2 * MINUTE;
    await rows.recover(back, true, [], new Map());
    await advance(rows, back);
    const all = await states(rows, back);
    expect(all).toHaveLength(48);
    expect(all.filter(([, state]) => state === 'due')).toHaveLength(made);
    expect(all.filter(([, state]) => state === 'missed')).toHaveLength(48 - made);
    expect(await rows.end(dead, DONE, NO_DETAIL, back)).toBe(false);
  });

  it('limits schedules, and stores one per name, also for simultaneous writes', async () => {
    const limits = { ...SCHEDULE_LIMITS, perAgent: 3 };
    const rows = createScheduleRows({ db: store.db, home: randomUUID(), limits });
    const write = (id: string, name: string) => rows.write(id, routine({ name, timing: EVERY_TEN }), START, null, 0);
    const same = await Promise.all(['a', 'b', 'c', 'd'].map((id) => write(id, 'Round')));
    expect(same.sort()).toEqual(['named', 'named', 'named', 'written']);
    const others = await Promise.all(Array.from({ length: 8 }, (_, n) => write(`s${n}`, `Round ${n}`)));
    expect(others.filter((each) => each === 'written')).toHaveLength(2);
    expect(others.filter((each) => each === 'full')).toHaveLength(6);
  });

  it('hold up no others where nobody knows when they are due', async () => {
    const rows = createScheduleRows({ db: store.db, home: randomUUID(), limits: SCHEDULE_LIMITS });
    const broken = routine({ name: 'Nowhere', timing: { kind: 'cron', cron: '*/10 * * * *', zone: null } });
    await rows.write('s1', broken, START, START + 5 * MINUTE, 0);
    await rows.write('s2', routine({ timing: EVERY_TEN }), START, START + 10 * MINUTE, 1);
    const now = START + 10 * MINUTE;
    const nowhere = () => ({ cron: createCronClock(), zone: 'Nowhere/City', offset: 0 });
    await advanceBy(rows, now, nowhere);
    expect(await states(rows, now)).toEqual([[10, 'due']]);
    const [first] = await rows.all();
    expect(first).toMatchObject({ dueAt: null });
    expect(first?.pausedWhy).toContain('When it is due cannot be told here');
  });

  it('has one row per moment, also when the clock goes back', async () => {
    const rows = await open();
    await advance(rows, START + 60 * MINUTE);
    await rows.reckon(START + 20 * MINUTE, contextOf, () => true);
    await advance(rows, START + 60 * MINUTE);
    expect((await states(rows, START + 60 * MINUTE)).map(([minute]) => minute)).toEqual([60, 50, 40, 30, 20, 10]);
  });

  it('reports runs to the agent before idle moments, and keeps them in the activity', async () => {
    const home = randomUUID();
    const rows = createScheduleRows({ db: store.db, home, limits: SCHEDULE_LIMITS });
    await rows.write('s1', routine({ timing: EVERY_TEN }), START, START + 10 * MINUTE, 0);
    const ran = START + 10 * MINUTE;
    await advance(rows, ran);
    const one = await claim(rows, ran);
    await rows.begins(one, 'run-1', ran);
    await rows.end(one, DONE, { ...NO_DETAIL, said: 'The well is dry.' }, ran + 1);
    // 3,000 moments at which nothing waited, and of another agent 3,000 runs.
    for (const [schedule, agent, started] of [
      ['s1', 'agent-0', null],
      ['s2', 'agent-1', 1],
    ] as const)
      await store.db
        .insertInto('occurrences')
        .values(
          Array.from({ length: 3_000 }, (_none, n) => ({
            home,
            schedule,
            agent_json: JSON.stringify(agent),
            due_at: ran + n + 1,
            not_before: ran,
            state: started ? 'done' : 'skipped',
            reason: started ? null : 'nothing-waits',
            started_at: started ? ran + n + 1 : null,
            run: started ? 'run' : null,
            ended_at: ran + n + 1,
          })),
        )
        .execute();
    const checks: number[] = [];
    const tell = createMeanwhile({
      rows: {
        ...rows,
        endsSince(since) {
          checks.push(since);
          return rows.endsSince(since);
        },
      },
      configs: { household: () => Promise.resolve({ fields: {}, effective: { time_zone: 'UTC' } } as never) },
      now: () => START + 60 * MINUTE,
      logger: { error: (message) => expect.fail(message) },
    });
    expect(await tell('agent-0', START, true)).toMatchObject({
      text: expect.stringContaining('> The well is dry.') as unknown,
      upTo: ran + 1,
    });
    expect(await tell('agent-0', ran + 1, false)).toBeNull();
    // A team that wakes asks in one go, each from when it fell asleep, and is looked for at once.
    checks.length = 0;
    const team = [
      ['agent-0', ran + 1],
      ['agent-1', ran + 2_999],
      ['agent-1', ran + 3_000],
      ['agent-2', ran + 5],
    ] as const;
    const told = await Promise.all(team.map(([agent, since]) => tell(agent, since, true)));
    expect(told.map((each) => each?.upTo ?? null)).toEqual([null, ran + 3_000, null, null]);
    expect(checks).toEqual([ran + 1]);
    const shown = await rows.between(0, START + 60 * MINUTE, { agentId: 'agent-0', most: 2_000, idle: 'last' });
    expect(shown).toHaveLength(2_000);
    expect(shown.filter(({ state }) => state === 'done')).toMatchObject([{ said: 'The well is dry.' }]);
  });

  describe('of a relay that dies in the middle', () => {
    const now = START + 10 * MINUTE;
    const dies = () => Promise.reject(new Error('The relay died.'));
    async function night(schedule: object, ask: () => Promise<never> = dies) {
      const rows = createScheduleRows({ db: store.db, home: randomUUID(), limits: SCHEDULE_LIMITS });
      const parsed = scheduleSchema.parse({ agentId: 'agent-0', timing: EVERY_TEN, ...schedule });
      await rows.write('s1', parsed, START, now, 0);
      await advance(rows, now);
      const messageIds: string[] = [];
      const { perform } = createPerform({
        rows,
        alone: { can: dies, carried: dies, readsWeb: dies, wake: dies, work: dies },
        wakes: { ask, permitFor: dies },
        host: { stateOf: () => 'idle' },
        inbox: {
          put({ messageId }) {
            messageIds.push(messageId);
            return Promise.resolve(null);
          },
        },
        configs: {
          household: () => Promise.resolve({ fields: {}, effective: { time_zone: 'UTC' } } as never),
          agent: dies,
        },
        somethingWaits: dies,
        mappings: { runsOf: dies, readyFor: dies, spentUp: dies },
        scopes: { enter: () => () => undefined },
        woken: { goOn: dies },
        logger: console,
        readContext: dies,
        scripts: { run: dies, endLeft: dies },
        texts: { toRun: dies, withdraw: dies },
        now: () => now,
      });
      /** Does what is due, and dies over it. */
      const die = async () => {
        const claimed = await claim(rows, now);
        const row = await rows.get('s1');
        if (!row) throw new Error('It is gone.');
        const begins = (runId: string) => rows.begins(claimed, runId, now);
        await expect(perform(claimed, row, { begins })).rejects.toThrow('The relay died.');
        await rows.recover(now, true, [], new Map());
      };
      return { rows, messageIds, die, perform };
    }

    it('run no script a second time, and count it as no run', async () => {
      const { rows, die } = await night({ kind: 'script', name: 'Backup', script: 'backup.sh' });
      await die();
      expect(await rows.claim(now, randomUUID(), true)).toBeNull();
      expect(await rows.between(0, now, { most: 1 })).toMatchObject([{ state: 'crashed', runId: null }]);
      expect(await rows.runs({ before: now + 1, most: 1 })).toEqual([]);
    });

    it('delivers a reminder once when it came and its end was not yet written', async () => {
      const decision = { decision: { outcome: 'granted', detail: '' } };
      const { rows, perform } = await night(
        { kind: 'reminder', name: 'Tea', message: 'Drink it.', timing: { kind: 'once', at: now } },
        () => Promise.resolve(decision as never),
      );
      const deliver = async () => {
        const claimed = await claim(rows, now);
        const row = await rows.get('s1');
        if (!row) throw new Error('It is gone, and would be told as cancelled.');
        const performed = await perform(claimed, row, { begins: dies });
        if ('again' in performed) throw new Error('It waits.');
        return { claimed, ...performed };
      };
      await deliver();
      // The relay is killed here.
      await rows.recover(now, true, [], new Map());
      const { claimed, end, detail, ...rest } = await deliver();
      expect(await rows.end(claimed, end, detail, now, rest)).toBe(true);
      expect(await rows.between(0, now, { most: 2 })).toMatchObject([{ state: 'done', kind: 'reminder' }]);
      // It takes no place any more.
      expect(await rows.get('s1')).toBeNull();
    });

    it('leave a reminder under one message id, which the inbox takes once', async () => {
      const { messageIds, die } = await night({
        kind: 'reminder',
        name: 'Tea',
        message: 'Drink it.',
        timing: { kind: 'once', at: now },
      });
      await die();
      await die();
      expect(messageIds).toHaveLength(2);
      expect(new Set(messageIds).size).toBe(1);
    });
  });
});
