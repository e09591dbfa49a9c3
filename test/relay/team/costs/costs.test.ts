import { Hono } from 'hono';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCostRoutes, createCosts, type OpenCosts } from '../../../../server/team/costs/index.ts';
import { COST_LIMITS } from '../../../../server/team/costs/settings.ts';
import { openEventLog } from '../../../../server/log/index.ts';
import { mount, type Env } from '../../../../server/http/endpoint.ts';
import { DEFAULT_PRICES, REHEARSAL_MODEL } from '../../../../src/shared/domain/prices.ts';
import { PLAIN_TERMS, type RequestSize } from '../../../../src/shared/domain/request-cost.ts';
import { costsSchema, pricesAnswerSchema, replyCostsSchema } from '../../../../src/shared/protocol/costs.ts';
import type { RoostEvent } from '../../../../src/shared/protocol/events.ts';
import { storeFor } from '../../../support/store-for.ts';
import { USUAL_STORES } from '../../../support/stores.ts';
import { createTestConfigs, type TestConfigs } from '../../../support/test-configs.ts';

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const usage = (outputTokens: number, model = 'claude-opus-5-5') => ({
  model,
  inputTokens: 0,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
/** Cost a dollar, at 20 dollars for a million. */
const DOLLAR = usage(50_000);
/** May cost a dollar at most. */
const size: RequestSize = {
  model: 'claude-opus-5-5',
  bytes: 0,
  pictures: 0,
  openEnded: false,
  searches: 0,
  maxOutputTokens: 49_800,
  cached: 'not',
  terms: PLAIN_TERMS,
};
const asking = (agentId: string) => ({ agentId, size });
/** `wake-cost.test.ts` has a relay that measures wakes. */
const sizeOfRun = () => Promise.resolve([]);
const NO_WAKES = { sizeOfWake: () => Promise.resolve({ ok: true, requests: [] } as const) };
const team = [
  { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
  { agentId: 'a2', name: 'Orion', position: 1, retired: false },
];

describe.each(USUAL_STORES)('costs on %s', (kind) => {
  const store = storeFor(kind);

  let homes = 0;
  let relay = '';
  let time = NOON;
  let configs: TestConfigs;
  let costs: OpenCosts;
  let said: RoostEvent[];
  const say = (events: readonly RoostEvent[]) => (said.push(...events), Promise.resolve([]));
  const again = (waitMs = 0, append: Parameters<typeof createCosts>[0]['log']['append'] = say) =>
    createCosts({
      db: store().db,
      home: relay,
      configs,
      directory: { all: () => Promise.resolve(team) },
      log: { append },
      alone: kind === 'sqlite',
      now: () => time,
      waitMs,
    });
  beforeEach(() => {
    relay = `home-${++homes}`;
    time = NOON;
    said = [];
    configs = createTestConfigs({ db: store().db, relay });
    costs = again();
  });

  const spend = (
    agentId: string,
    more: { dollars?: number; sessionId?: string | null; messageId?: string | null } = {},
  ) =>
    costs.note({
      agentId,
      sessionId: more.sessionId ?? null,
      messageId: more.messageId ?? null,
      via: 'session',
      took: { usage: usage(50_000 * (more.dollars ?? 1)), whole: true },
    });
  const app = () => {
    const hono = new Hono<Env>();
    mount(
      hono,
      createCostRoutes({
        schedules: { spentSince: () => Promise.resolve([]) },
        costs,
        host: NO_WAKES,
        configs,
        sizeOfRun,
      }),
    );
    return hono;
  };

  it('reports costs by day, agent, session and reply, with cached tokens', async () => {
    await spend('a1', { sessionId: 's1', messageId: 'm1' });
    await spend('a1', { sessionId: 's1', messageId: 'm1' });
    time += HOUR;
    await costs.note({
      agentId: 'a2',
      sessionId: 's2',
      messageId: 'm2',
      via: 'proxy',
      took: {
        usage: { model: 'claude-opus-5-5', inputTokens: 1, outputTokens: 2, cacheReadTokens: 30, cacheWriteTokens: 4 },
        whole: true,
      },
    });
    const report = costsSchema.parse(await (await app().request('/api/costs?days=2')).json());
    expect(report.today).toEqual({
      requests: 3,
      inputTokens: 1,
      outputTokens: 100_002,
      cacheReadTokens: 30,
      cacheWriteTokens: 4,
      costMicroUsd: 2_000_070,
      estimated: false,
    });
    expect(report.days.map(({ day, spent }) => [day, spent.requests])).toEqual([
      ['2026-11-21', 3],
      ['2026-11-20', 0],
    ]);
    expect(report.agents.map(({ agentId, total }) => [agentId, total.costMicroUsd])).toEqual([
      ['a1', 2_000_000],
      ['a2', 70],
    ]);
    expect(report.sessions.map(({ sessionId, spent }) => [sessionId, spent.requests])).toEqual([
      ['s2', 1],
      ['s1', 2],
    ]);
    const replies = replyCostsSchema.parse(await (await app().request('/api/costs/replies?ids=m1,m2,m3')).json());
    expect(replies.replies).toEqual({
      m1: { costMicroUsd: 2_000_000, estimated: false },
      m2: { costMicroUsd: 70, estimated: false },
    });
  });

  it("reports the demo's costs until a model has answered, and then drops them", async () => {
    const today = async () => costsSchema.parse(await (await app().request('/api/costs?days=1')).json()).today;
    await costs.note({
      agentId: 'a1',
      sessionId: 's1',
      messageId: 'm1',
      via: 'session',
      took: { usage: usage(700, REHEARSAL_MODEL), whole: true },
    });
    expect(await today()).toMatchObject({ requests: 1, outputTokens: 700, costMicroUsd: 0 });
    await spend('a1', { sessionId: 's1' });
    expect(await today()).toMatchObject({ requests: 1, outputTokens: 50_000, costMicroUsd: 1_000_000 });
  });

  it('name the newest sessions and the dearest routines, and sum up the others', async () => {
    for (let n = 1; n <= COST_LIMITS.sessions + 2; n++) {
      await spend('a1', { sessionId: `s${n}` });
      time += 1_000;
    }
    const routines = Array.from({ length: COST_LIMITS.routines + 3 }, (_, n) => ({
      scheduleId: `r${n}`,
      agentId: 'a1',
      name: `Routine ${n}`,
      kind: 'routine' as const,
      runs: 2,
      tokens: 10,
      costMicroUsd: 1_000 - n,
      estimated: n === COST_LIMITS.routines,
    }));
    const hono = new Hono<Env>();
    mount(
      hono,
      createCostRoutes({
        schedules: { spentSince: () => Promise.resolve(routines) },
        costs,
        host: NO_WAKES,
        configs,
        sizeOfRun,
      }),
    );
    const report = costsSchema.parse(await (await hono.request('/api/costs?days=1')).json());
    expect(report.sessions).toHaveLength(COST_LIMITS.sessions);
    expect(report.sessions.map(({ sessionId }) => sessionId)).not.toContain('s2');
    expect(report.routines).toHaveLength(COST_LIMITS.routines);
    expect(report.rest).toMatchObject({
      sessions: { count: 2, spent: { requests: 2, costMicroUsd: 2 * (report.sessions[0]?.spent.costMicroUsd ?? 0) } },
      routines: { count: 3, runs: 6, tokens: 30, costMicroUsd: 950 + 949 + 948, estimated: true },
    });
    const few = costsSchema.parse(await (await app().request('/api/costs?days=1')).json());
    expect(few.rest).not.toHaveProperty('routines');
  });

  it('keeps earlier costs at their price when the table changes', async () => {
    await spend('a1');
    const put = await app().request('/api/prices', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prices: [{ model: 'claude-', input: 0, output: 2, cacheRead: 0, cacheWrite: 0 }] }),
    });
    expect(put.status).toBe(200);
    await spend('a1');
    await costs.note({
      agentId: 'a1',
      sessionId: null,
      messageId: null,
      via: 'session',
      took: { usage: usage(1, 'llama'), whole: true },
    });
    expect((await costs.report(1)).today).toMatchObject({ costMicroUsd: 1_000_000 + 100_000 + 125, estimated: true });
    const back = await app().request('/api/prices', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"prices":[]}',
    });
    expect(pricesAnswerSchema.parse(await back.json()).prices).toEqual(DEFAULT_PRICES);
  });

  it('say that they changed, once for each request and each table', async () => {
    await spend('a1');
    await costs.setPrices([]);
    expect(said).toEqual([
      { kind: 'changed', time: NOON, what: 'costs', agentId: 'a1' },
      { kind: 'changed', time: NOON, what: 'costs', agentId: null },
    ]);
  });

  it('refuse what does not fit, by name', async () => {
    const price = { model: 'x', input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
    const put = (body: unknown) =>
      app().request('/api/prices', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await put({ prices: [price, price] })).status).toBe(400);
    expect((await put({ prices: [{ ...price, input: -1 }] })).status).toBe(400);
    expect((await app().request('/api/costs?days=91')).status).toBe(400);
    expect(
      (await app().request(`/api/costs/replies?ids=${Array.from({ length: 101 }, (_none, i) => i).join(',')}`)).status,
    ).toBe(400);
    expect((await app().request('/api/costs', { method: 'POST' })).headers.get('allow')).toBe('GET');
  });

  it('count what a model says wrongly as nothing, and ids of any form', async () => {
    const odd = `\u0000\ud800'"`;
    await costs.note({
      agentId: odd,
      sessionId: odd,
      messageId: odd,
      via: 'proxy',
      took: {
        usage: {
          model: odd,
          inputTokens: -5,
          outputTokens: Number.NaN,
          cacheReadTokens: 1.4,
          cacheWriteTokens: Infinity,
        },
        whole: true,
      },
    });
    expect([...(await costs.replies([odd])).keys()]).toEqual([odd]);
    expect((await costs.report(1)).today).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 1,
      cacheWriteTokens: 0,
    });
  });

  describe('a daily budget', () => {
    const allowed = async (agentId: string) => {
      const checked = await costs.check(asking(agentId));
      if (checked.ok) checked.hold.release();
      return checked.ok;
    };

    it('stops only the agent whose budget is used up', async () => {
      await configs.agentBudget('a1', 2);
      await spend('a1', { dollars: 1.99 });
      expect(await allowed('a1')).toBe(true);
      await spend('a1', { dollars: 0.01 });
      expect(await allowed('a1')).toBe(false);
      expect(await allowed('a2')).toBe(true);
    });

    it("stops all agents at the household's budget, and says what, by whom, until when and where to raise it", async () => {
      await configs.householdBudget(3);
      await configs.zone('Europe/Berlin');
      await spend('a1', { dollars: 2 });
      await spend('a2');
      const checked = await costs.check(asking('a2'));
      expect(checked).toEqual({
        ok: false,
        until: Date.UTC(2026, 10, 21, 23),
        message:
          'The household’s daily budget of $3.00 for model requests is used up: $3.00 spent today (most by Lyra $2.00, Orion $1.00). It opens again on 22 Nov 2026, 00:00 (Europe/Berlin). Raise it in the settings, under “Budgets and prices”.',
      });
      expect((await costs.report(1)).stopped).toEqual([
        {
          scope: 'household',
          agentId: null,
          message: checked.ok ? '' : checked.message,
          until: Date.UTC(2026, 10, 21, 23),
        },
      ]);
    });

    it('allows nothing with a budget of 0, and applies a changed one at once', async () => {
      await configs.agentBudget('a1', 0);
      const checked = await costs.check(asking('a1'));
      expect(checked).toMatchObject({
        ok: false,
        message:
          'Lyra’s daily budget for model requests is $0: none is sent. Raise it in the settings, under “Budgets and prices”.',
      });
      await configs.agentBudget('a1', null);
      expect(await allowed('a1')).toBe(true);
    });

    it.each([
      // The clocks went back at 03:00: the day had 25 hours.
      ['Europe/Berlin', '2026-10-25', Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 23)],
      // By half an hour, and forward.
      ['Australia/Lord_Howe', '2026-10-04', Date.UTC(2026, 9, 3, 13, 30), Date.UTC(2026, 9, 4, 13)],
      ['Asia/Kathmandu', '2026-11-21', Date.UTC(2026, 10, 20, 18, 15), Date.UTC(2026, 10, 21, 18, 15)],
    ])('begins anew at midnight of the household’s zone: %s, %s', async (zone, date, begin, end) => {
      await configs.householdBudget(1);
      await configs.zone(zone);
      time = begin - 1;
      await spend('a1', { dollars: 0.9 });
      time = begin;
      expect(await allowed('a1')).toBe(true);
      await spend('a1');
      expect(await allowed('a1')).toBe(false);
      time = end - 1;
      expect(await allowed('a1')).toBe(false);
      time = end;
      expect(await allowed('a1')).toBe(true);
      expect((await costs.report(3)).days.map(({ spent }) => spent.costMicroUsd)).toEqual([0, 1_000_000, 900_000]);
      expect((await costs.report(2)).days[1]?.day).toBe(date);
    });

    it('stands when the relay starts again, and is not shared by homes that share a store', async () => {
      await configs.householdBudget(1);
      await spend('a1');
      costs = again();
      expect(await allowed('a1')).toBe(false);
      relay = `${relay}-other`;
      costs = again();
      expect(await allowed('a1')).toBe(true);
    });

    it('lets one of eight through that ask at once for the last of it', async () => {
      await spend('a1');
      await configs.householdBudget(1.5);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_none, i) => costs.check(asking(i % 2 ? 'a1' : 'a2'))),
      );
      expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
      expect(answers.find((answer) => !answer.ok)).toMatchObject({
        message: expect.stringContaining(
          'is reserved for running requests ($1.00 spent, $1.00 reserved). This request may cost up to $1.00.',
        ) as unknown,
      });
    });

    it('makes others wait for those under way, and decides anew when they end', async () => {
      costs = again(10_000);
      await configs.householdBudget(0.01);
      const first = await costs.check(asking('a1'));
      const rest = Promise.all(Array.from({ length: 7 }, () => allowed('a2')));
      if (!first.ok) throw new Error(first.message);
      await first.hold.settle({
        sessionId: null,
        messageId: null,
        via: 'session',
        took: { usage: usage(50), whole: true },
      });
      expect(await rest).toEqual(Array.from({ length: 7 }, () => true));
    });

    it('counts what was sent and never told at the most that it may have cost, and what was not sent as nothing', async () => {
      const [told, cut, lost, unsent] = await Promise.all(
        ['a1', 'a1', 'a1', 'a1'].map(async (agentId) => {
          const checked = await costs.check(asking(agentId));
          if (!checked.ok) throw new Error(checked.message);
          return checked.hold;
        }),
      );
      const end = { sessionId: null, messageId: null, via: 'proxy' } as const;
      await told?.settle({ ...end, took: { usage: usage(50), whole: true, searches: 2 } });
      await cut?.settle({ ...end, took: { usage: usage(3), whole: false } });
      expect(await lost?.again()).toBe(true);
      await lost?.settle({ ...end, took: null });
      unsent?.release();
      await unsent?.settle({ ...end, took: null });
      expect((await costs.report(1)).today).toMatchObject({
        requests: 4,
        costMicroUsd: 50 * 20 + 20_000 + 996_000 + 2 * 1_000_000,
        estimated: true,
      });
    });

    it('sends again what was lost only where there is room for it once more', async () => {
      await configs.householdBudget(2.5);
      const checks = await Promise.all([costs.check(asking('a1')), costs.check(asking('a1'))]);
      const [first, second] = checks.map((checked) => (checked.ok ? checked.hold : null));
      // Two dollars are held or spent in any case: of one that was lost, another would make three.
      expect(await first?.again()).toBe(false);
      expect(await allowed('a1')).toBe(false);
      second?.release();
      expect((await costs.report(1)).today).toMatchObject({ requests: 1, costMicroUsd: 996_000 + 4_000 });
      expect(await allowed('a1')).toBe(true);
    });

    it('charges at the next start what a process that was killed had under way, at the most that it may have cost', async () => {
      const counted = await costs.check({ ...asking('a1'), sessionId: 's1', messageId: 'm1' });
      const unsent = await costs.check(asking('a1'));
      await costs.check({ ...asking('a2'), credentialId: 'c1', sessionId: 's1' });
      if (!counted.ok || !unsent.ok) throw new Error('There was no room.');
      await counted.hold.settle({
        sessionId: 's1',
        messageId: 'm1',
        via: 'session',
        took: { usage: usage(50), whole: true },
      });
      unsent.hold.release();
      await costs.close();
      time += 5 * HOUR;
      for (let start = 0; start < 2; start++) {
        costs = again();
        await costs.recover();
        expect((await costs.report(1)).today).toMatchObject({
          requests: 2,
          costMicroUsd: 50 * 20 + 1_000_000,
          estimated: true,
        });
      }
    });

    it('holds nothing for a request any more once it is counted', async () => {
      const held: unknown[] = [];
      costs = again(0, async () => {
        held.push(await store().db.selectFrom('reserves').select('reserve').where('home', '=', relay).execute());
        return [];
      });
      await configs.householdBudget(2);
      const checked = await costs.check(asking('a1'));
      if (!checked.ok) throw new Error(checked.message);
      const end = { sessionId: null, messageId: null, via: 'session' } as const;
      await checked.hold.settle({ ...end, took: { usage: DOLLAR, whole: true } });
      expect(held).toEqual([[]]);
    });

    it('lets so many of one agent and of one credential be under way, and no more', async () => {
      const one = { ...asking('a1'), credentialId: 'c1' };
      for (let count = 0; count < COST_LIMITS.underWayPerCredential; count++)
        expect((await costs.check(one)).ok).toBe(true);
      expect(await costs.check(one)).toMatchObject({
        ok: false,
        message: expect.stringContaining('Too many requests') as unknown,
      });
      for (let count = COST_LIMITS.underWayPerCredential; count < COST_LIMITS.underWayPerAgent; count++)
        expect((await costs.check(asking('a1'))).ok).toBe(true);
      expect((await costs.check(asking('a1'))).ok).toBe(false);
      expect(await allowed('a2')).toBe(true);
    });

    it('overruns a budget by one request at most, however many ask', async () => {
      costs = again(10_000);
      await spend('a2');
      await configs.householdBudget(5);
      let sent = 0;
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const checked = await costs.check(asking('a1'));
          if (!checked.ok) return;
          sent += 1;
          await checked.hold.settle({
            sessionId: null,
            messageId: null,
            via: 'session',
            took: { usage: DOLLAR, whole: true },
          });
        }),
      );
      expect(sent).toBe(4);
    });

    it('lets go of whoever does not wait any more', async () => {
      costs = again(10_000);
      await configs.householdBudget(0.01);
      expect((await costs.check(asking('a1'))).ok).toBe(true);
      const gone = new AbortController();
      const waiting = costs.check(asking('a2'), gone.signal);
      gone.abort(new Error('gone'));
      await expect(waiting).rejects.toThrow('gone');
    });
  });

  it('go into the real log', async () => {
    const log = await openEventLog({
      db: store().db,
      home: relay,
      now: () => time,
      newId: () => relay,
      onListenerError: () => undefined,
      retentionMs: 0,
    });
    costs = createCosts({
      db: store().db,
      home: relay,
      configs,
      directory: { all: () => Promise.resolve(team) },
      log,
      now: () => time,
    });
    await costs.note({
      agentId: 'a1',
      sessionId: null,
      messageId: null,
      via: 'session',
      took: { usage: DOLLAR, whole: true },
    });
    expect((await log.read(0, 10)).map(({ event }) => event.kind)).toEqual(['changed']);
    await log.close();
  });
});
