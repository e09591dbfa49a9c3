import { describe, expect, it } from 'vitest';
import { WAKE_WAYS, type WakeWay } from '../../../../src/shared/domain/guardrails.ts';
import type { WakeRequest } from '../../../../server/team/gate/contract.ts';
import type { AgentConfig, HouseholdConfig } from '../../../../src/shared/protocol/config.ts';
import type { WakeSource } from '../../../../src/shared/protocol/wakes.ts';
import { createTestClock, createTestGate, request, type TestClock } from '../../../support/gate.ts';
import { storeFor } from '../../../support/store-for.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A Tuesday, 10:00 in Berlin. */
const MORNING = Date.parse('2026-06-16T08:00:00Z');
const agent = (agentId: string): WakeSource => ({ kind: 'agent', agentId });
/** Nothing is in the way but what a test puts there. */
const OPEN: HouseholdConfig = {
  coordination: {
    max_concurrent_pulse_sessions: 16,
    wake_guardrails: {
      cooldown_seconds: 0,
      max_daily_session_minutes: 1_440,
      max_wakes_per_day: 1_000,
      max_wakes_per_pair_per_day: 1_000,
      max_wakes_per_session: 100,
    },
  },
  flood_guard: { max_wakes: 1_000, window_seconds: 1 },
};
type Guardrails = NonNullable<AgentConfig['coordination']['wake_guardrails']>;
const guardrails = (wake_guardrails: Guardrails): AgentConfig => ({ coordination: { wake_guardrails } });

describe.each(USUAL_STORES)('the gate on %s', (kind) => {
  const store = storeFor(kind);

  /** A household of its own, wide open but for what Orin's own settings say. */
  async function household(
    orin: AgentConfig = { coordination: {} },
    over: Partial<HouseholdConfig> = {},
    clock: TestClock = createTestClock(MORNING),
  ) {
    const made = createTestGate(store(), clock);
    await made.configs.setHousehold({ ...OPEN, ...over });
    await made.configs.setAgent('orin', orin);
    /** Asks, and ends the session at once where one was opened. */
    async function ask(over: Partial<WakeRequest> = {}) {
      const { decision, left, permit } = await made.gate.ask(request(over));
      await permit?.release();
      return { ...decision, left };
    }
    const outcomes = async (count: number, over: Partial<WakeRequest> = {}) => {
      const all: string[] = [];
      for (let i = 0; i < count; i++) {
        const { outcome, check } = await ask(over);
        all.push(check ?? outcome);
      }
      return all;
    };
    return { ...made, clock, ask, outcomes };
  }

  it('lets a caller wake three times in a session, and not a fourth time; another caller and another session begin anew', async () => {
    const { configs, ask, clock } = await household();
    await configs.setAgent('lyra', guardrails({ max_wakes_per_session: 3 }));
    const lefts = [await ask(), await ask(), await ask()].map(({ left }) => left);
    expect(lefts).toEqual([2, 1, 0]);
    const fourth = await ask();
    expect(fourth).toMatchObject({ outcome: 'error', check: 'source_budget', until: null, left: 0 });
    expect(fourth.detail).toContain('limit of 3 wakes');
    expect(await ask({ source: agent('mira') })).toMatchObject({ outcome: 'granted', left: 99 });
    expect(await ask({ callerSession: 'session-2' })).toMatchObject({ outcome: 'granted', left: 2 });
    expect(await ask({ way: 'deferred' })).toMatchObject({ outcome: 'granted', left: null });
    // Without a session there is a budget too, for the day.
    const alone = [
      await ask({ callerSession: null }),
      await ask({ callerSession: null }),
      await ask({ callerSession: null }),
      await ask({ callerSession: null }),
    ];
    expect(alone.map(({ check, outcome }) => check ?? outcome)).toEqual([
      'granted',
      'granted',
      'granted',
      'source_budget',
    ]);
    clock.pass(24 * HOUR);
    expect(await ask({ callerSession: null })).toMatchObject({ outcome: 'granted', left: 2 });
    expect(await ask()).toMatchObject({ check: 'source_budget' });
  });

  it('takes nothing from the budget for a wake that was refused or deferred', async () => {
    const { ask } = await household();
    expect(await ask({ state: 'busy' })).toMatchObject({ outcome: 'deferred', check: 'idle', left: 100 });
    expect(await ask({ state: 'absent' })).toMatchObject({ outcome: 'deferred', check: 'idle', left: 100 });
    expect(await ask({ state: 'paused' })).toMatchObject({ outcome: 'granted', left: 99 });
  });

  it.each(['in one process', 'over a restart'])(
    'a clock that goes back a day closes no door for longer than a cooldown, and opens none, %s',
    async (how) => {
      const clock = createTestClock(MORNING);
      const first = await household(
        guardrails({ cooldown_seconds: 300 }),
        { flood_guard: { max_wakes: 1, window_seconds: 200 } },
        clock,
      );
      expect(await first.ask()).toMatchObject({ outcome: 'granted' });
      clock.pass(-24 * HOUR);
      const { gate } = how === 'over a restart' ? createTestGate(store(), clock, { home: first.home }) : first;
      const ask = async () => {
        const { decision, permit } = await gate.ask(request({ callerSession: null }));
        return { ...decision, permit };
      };
      expect(await ask()).toMatchObject({ check: 'cooldown', until: clock.now() + 300 * SECOND });
      clock.pass(300 * SECOND);
      const again = await ask();
      expect(again).toMatchObject({ outcome: 'granted' });
      await again.permit?.release();
      // What is granted now is held to as ever.
      clock.pass(299 * SECOND);
      expect(await ask()).toMatchObject({ check: 'cooldown' });
      clock.pass(24 * HOUR);
      expect(await ask()).toMatchObject({ outcome: 'granted' });
    },
  );

  it('keeps the cooldown to the second, whoever asks', async () => {
    const { ask, clock } = await household(guardrails({ cooldown_seconds: 300 }));
    await ask();
    clock.pass(299 * SECOND);
    expect(await ask({ source: agent('mira') })).toMatchObject({
      outcome: 'suppressed',
      check: 'cooldown',
      until: MORNING + 300 * SECOND,
    });
    clock.pass(SECOND);
    expect((await ask({ source: agent('mira') })).outcome).toBe('granted');
  });

  it('grants the 12th wake of the day and not the 13th', async () => {
    const { outcomes } = await household(guardrails({ max_wakes_per_day: 12 }));
    expect(await outcomes(13)).toEqual([...Array<string>(12).fill('granted'), 'daily']);
  });

  it('grants a pair its 5th wake of the day and not its 6th; the other direction and other sources go on', async () => {
    const { outcomes } = await household(guardrails({ max_wakes_per_pair_per_day: 5 }));
    expect(await outcomes(6)).toEqual([...Array<string>(5).fill('granted'), 'pair']);
    expect(await outcomes(1, { source: agent('mira') })).toEqual(['granted']);
    expect(await outcomes(1, { source: { kind: 'schedule', name: 'lyra' }, way: 'schedule' })).toEqual(['granted']);
    expect(await outcomes(1, { source: agent('orin'), target: 'lyra' })).toEqual(['granted']);
  });

  it.each([
    ['daily', guardrails({ max_wakes_per_day: 0 })],
    ['pair', guardrails({ max_wakes_per_pair_per_day: 0 })],
    ['minutes', guardrails({ max_daily_session_minutes: 0 })],
    ['concurrency', { coordination: { max_concurrent_pulse_sessions: 0 } }],
    ['disabled', { coordination: { wakes_enabled: false } }],
  ] as const)('never wakes by %s where its limit is 0 or off', async (check, config) => {
    const { ask, gate } = await household(config);
    expect(await ask()).toMatchObject({ outcome: 'suppressed', check, until: null });
    expect(await gate.stats('orin')).toMatchObject({ nextWakeTime: null, stoppedBy: check });
  });

  it('begins to count anew with the household’s day, and not a ms before', async () => {
    const clock = createTestClock(Date.parse('2026-06-16T21:59:59.999Z'));
    const { ask, gate } = await household(guardrails({ max_wakes_per_day: 1 }), { time_zone: 'Europe/Berlin' }, clock);
    expect((await ask()).outcome).toBe('granted');
    expect(await ask()).toMatchObject({ check: 'daily', until: Date.parse('2026-06-16T22:00:00Z') });
    expect((await gate.stats('orin')).nextWakeTime).toBe(Date.parse('2026-06-16T22:00:00Z'));
    clock.pass(1);
    expect((await ask()).outcome).toBe('granted');
  });

  it.each([
    ['23', '2026-03-28T23:00:00Z'],
    ['25', '2026-10-24T22:00:00Z'],
  ])('counts a day of %s hours whole, and no more', async (hours, start) => {
    const midnight = Date.parse(start);
    const clock = createTestClock(midnight);
    const { ask } = await household(guardrails({ max_wakes_per_day: 1 }), { time_zone: 'Europe/Berlin' }, clock);
    expect((await ask()).outcome).toBe('granted');
    clock.set(midnight + Number(hours) * HOUR - 1);
    expect(await ask()).toMatchObject({ check: 'daily', until: midnight + Number(hours) * HOUR });
    clock.pass(1);
    expect((await ask()).outcome).toBe('granted');
  });

  it('counts the minutes of sessions that are over and of those that run, today’s part of them only', async () => {
    const clock = createTestClock(Date.parse('2026-06-16T21:50:00Z'));
    const { gate, ask } = await household(guardrails({ max_daily_session_minutes: 30 }), {}, clock);
    const first = await gate.ask(request());
    clock.pass(20 * MINUTE);
    expect(await gate.stats('orin')).toMatchObject({ minutesToday: 10, running: 1 });
    await first.permit?.release();
    const second = await gate.ask(request());
    clock.pass(20 * MINUTE - 1);
    expect((await ask()).outcome).toBe('granted');
    clock.pass(1);
    expect(await ask()).toMatchObject({ check: 'minutes', until: Date.parse('2026-06-17T22:00:00Z') });
    await second.permit?.release();
    await second.permit?.release();
    clock.pass(HOUR);
    await second.permit?.release();
    expect(await gate.stats('orin')).toMatchObject({ minutesToday: 30, running: 0 });
  });

  it('lets two sessions of an agent run at a time', async () => {
    const { gate } = await household({ coordination: { max_concurrent_pulse_sessions: 2 } });
    const { permit } = await gate.ask(request());
    await gate.ask(request());
    expect((await gate.ask(request())).decision).toMatchObject({ check: 'concurrency', until: null });
    await permit?.release();
    expect((await gate.ask(request())).decision.outcome).toBe('granted');
  });

  it('lets one of two processes begin with an agent that is to do one thing at a time; the other is told to wait', async () => {
    const clock = createTestClock(MORNING);
    const { configs, gate, home } = createTestGate(store(), clock, { alone: false });
    const other = createTestGate(store(), clock, { home, alone: false });
    await configs.setHousehold({ ...OPEN, coordination: { ...OPEN.coordination, max_concurrent_pulse_sessions: 1 } });
    const asked = request({ state: 'absent', alone: true, oneAtATime: true });
    const both = await Promise.all([gate.ask(asked), other.gate.ask({ ...asked, messageId: 'm2' })]);
    expect(both.map(({ decision: { outcome, check } }) => check ?? outcome).sort()).toEqual(['granted', 'idle']);
    expect((await gate.stats('orin')).wakesToday).toBe(1);
    for (const { permit } of both) await permit?.release();
    expect((await other.gate.ask(asked)).decision.outcome).toBe('granted');
  });

  it('counts what was scheduled, and flags that were cleared, in none of the limits of wakes', async () => {
    const { ask, gate } = await household(guardrails({ cooldown_seconds: 300, max_wakes_per_day: 2 }), {
      flood_guard: { max_wakes: 2, window_seconds: 60 },
    });
    for (const way of ['schedule', 'reminder', 'script_failure', 'deferred'] as const)
      for (let n = 0; n < 3; n++)
        expect(await ask({ way, source: { kind: 'schedule', name: 'tea' } }), way).toMatchObject({
          outcome: 'granted',
        });
    const api = { source: { kind: 'api', name: 'an application' }, way: 'api', state: 'paused' } as const;
    for (let n = 0; n < 2; n++) expect(await ask(api)).toMatchObject({ outcome: 'granted' });
    // Among themselves they come as the flood guard lets them.
    const third = await ask({ ...api, since: MORNING });
    expect(third).toMatchObject({ outcome: 'suppressed', check: 'flood', until: MORNING + 60 * SECOND });
    expect(await gate.stats('orin')).toMatchObject({ wakesToday: 0, stoppedBy: null });
    expect((await ask()).outcome).toBe('granted');
    expect(await gate.stats('orin')).toMatchObject({ wakesToday: 1, stoppedBy: 'cooldown' });
  });

  it('records of what is asked for again only that it is granted', async () => {
    const { ask, gate, configs, told } = await household({ coordination: { wakes_enabled: false } });
    const again = { way: 'reminder', source: { kind: 'schedule', name: 'tea' }, quiet: true } as const;
    told.length = 0;
    expect(await ask(again)).toMatchObject({ check: 'disabled' });
    expect(told).toEqual([]);
    const feed = async () => (await gate.feed({ before: null, limit: 5, agentId: null })).wakes;
    expect(await feed()).toEqual([]);
    await configs.setAgent('orin', { coordination: {} });
    expect(await ask(again)).toMatchObject({ outcome: 'granted' });
    expect(await feed()).toHaveLength(1);
  });

  it('stops a flood over the whole household: five in 60 s, those of the person not counted', async () => {
    const { ask, clock } = await household({ coordination: {} }, { flood_guard: { max_wakes: 5, window_seconds: 60 } });
    for (let i = 0; i < 5; i++) {
      expect((await ask({ target: `agent-${i}` })).outcome).toBe('granted');
      expect((await ask({ target: `agent-${i}`, source: { kind: 'person' }, way: 'person' })).outcome).toBe('granted');
      clock.pass(SECOND);
    }
    clock.set(MORNING + 60 * SECOND - 1);
    expect(await ask()).toMatchObject({ outcome: 'suppressed', check: 'flood', until: MORNING + 60 * SECOND });
    clock.pass(1);
    expect((await ask()).outcome).toBe('granted');
    expect(await ask()).toMatchObject({ check: 'flood', until: MORNING + 61 * SECOND });
  });

  it('passes the person always, records it, and takes no quota for it', async () => {
    const { ask, gate, outcomes } = await household(guardrails({ cooldown_seconds: 300, max_wakes_per_day: 1 }));
    for (let i = 0; i < 3; i++)
      expect((await ask({ source: { kind: 'person' }, way: 'person', state: 'absent' })).outcome).toBe('granted');
    expect(await gate.stats('orin')).toMatchObject({
      wakesToday: 0,
      lastWakeTime: MORNING,
      bySource: { person: 3 },
      nextWakeTime: MORNING,
    });
    expect(await outcomes(2)).toEqual(['granted', 'cooldown']);
    expect((await ask({ source: { kind: 'person' }, way: 'person' })).outcome).toBe('granted');
    expect((await gate.feed({ before: null, limit: 10, agentId: null })).wakes).toHaveLength(6);
  });

  it('defers wakes in a blackout past midnight, and says until when', async () => {
    const clock = createTestClock(Date.parse('2026-06-16T20:00:00Z'));
    const { ask } = await household(
      { coordination: { blackouts: [{ label: 'night', start_time: '22:00', end_time: '06:00', days: [] }] } },
      {},
      clock,
    );
    expect(await ask()).toMatchObject({ check: 'blackout', until: Date.parse('2026-06-17T04:00:00Z') });
    clock.set(Date.parse('2026-06-17T04:00:00Z'));
    expect((await ask()).outcome).toBe('granted');
  });

  it('keeps to settings from the moment that they are set, also those that another process has set', async () => {
    const clock = createTestClock(Date.parse('2026-06-16T20:00:00Z'));
    const { configs, gate, home } = createTestGate(store(), clock, { alone: false });
    const other = createTestGate(store(), clock, { home, alone: false });
    await configs.setHousehold(OPEN);
    expect((await gate.ask(request())).decision.outcome).toBe('granted');
    await other.configs.setHousehold({ ...OPEN, wakes_enabled: false });
    expect((await gate.ask(request())).decision).toMatchObject({
      outcome: 'suppressed',
      check: 'disabled',
      until: null,
    });
    expect((await other.gate.ask(request())).decision.check).toBe('disabled');
    await configs.setHousehold(OPEN);
    expect((await other.gate.ask(request())).decision.outcome).toBe('granted');
  });

  it('grants nothing after its switch was turned, however many ask meanwhile', async () => {
    const { gate, configs } = await household();
    let turned = false;
    const late: string[] = [];
    const asking = Array.from({ length: 30 }, async (_none, i) => {
      await new Promise((resolve) => setTimeout(resolve, i));
      const after = turned;
      const { decision } = await gate.ask(request({ target: `agent-${i}`, callerSession: `session-${i}` }));
      if (after) late.push(decision.outcome);
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await configs.setHousehold({ ...OPEN, wakes_enabled: false });
    turned = true;
    await Promise.all(asking);
    expect((await gate.ask(request({ target: 'last', callerSession: 'last' }))).decision.check).toBe('disabled');
    expect(new Set(late)).not.toContain('granted');
  });

  const sources: Readonly<Record<WakeWay, WakeSource>> = {
    answer: { kind: 'person' },
    person: { kind: 'person' },
    wake_agent: agent('lyra'),
    urgent_message: agent('lyra'),
    thread_mention: agent('lyra'),
    thread_added: agent('lyra'),
    deferred: agent('lyra'),
    schedule: { kind: 'schedule', name: 'morning' },
    reminder: { kind: 'schedule', name: 'tea' },
    script_failure: { kind: 'script', name: 'build' },
    api: { kind: 'api', name: 'someone' },
  };
  it('knows every way to ask, records it, and stops all but the person’s own when the household’s switch is off', async () => {
    const { ask, gate } = await household({ coordination: {} }, { wakes_enabled: false });
    for (const way of WAKE_WAYS) {
      expect({ way, outcome: (await ask({ way, source: sources[way] })).outcome }).toEqual({
        way,
        outcome: way === 'person' || way === 'answer' ? 'granted' : 'suppressed',
      });
    }
    const { wakes } = await gate.feed({ before: null, limit: 100, agentId: 'orin' });
    expect(wakes.map(({ way }) => way).reverse()).toEqual([...WAKE_WAYS]);
    expect(wakes.map(({ source }) => source).reverse()).toEqual(WAKE_WAYS.map((way) => sources[way]));
  });

  it('shows the feed in pages, newest first, of everybody or of one', async () => {
    const { ask, gate } = await household();
    const asked: string[] = [];
    for (let i = 0; i < 5; i++)
      asked.unshift((await ask({ target: i % 2 ? 'mira' : 'orin', messageId: `m${i}` })).decisionId);
    const first = await gate.feed({ before: null, limit: 2, agentId: null });
    const second = await gate.feed({ before: asked[1] ?? '', limit: 3, agentId: null });
    expect([first.more, second.more]).toEqual([true, false]);
    expect([...first.wakes, ...second.wakes].map(({ decisionId }) => decisionId)).toEqual(asked);
    expect(first.wakes[0]).toEqual({
      decisionId: asked[0],
      time: MORNING,
      target: 'orin',
      source: agent('lyra'),
      way: 'wake_agent',
      reason: 'blocker',
      messageId: 'm4',
      callId: null,
      outcome: 'granted',
      check: null,
      until: null,
      detail: 'Every check passed.',
    });
    expect(
      (await gate.feed({ before: null, limit: 10, agentId: 'mira' })).wakes.map(({ messageId }) => messageId),
    ).toEqual(['m3', 'm1']);
    expect(await gate.feed({ before: 'nobody', limit: 10, agentId: null })).toEqual({ wakes: [], more: false });
  });

  it('keeps ids that no database takes as text', async () => {
    const { gate } = await household();
    const odd = 'a\u0000\ud800"';
    await gate.ask(request({ target: 'lyra', source: agent('orin'), messageId: odd, callerSession: odd }));
    expect((await gate.feed({ before: null, limit: 1, agentId: 'lyra' })).wakes[0]).toMatchObject({
      target: 'lyra',
      source: agent('orin'),
      messageId: odd,
    });
  });

  it('says each change once in the event log, and gates of other households know nothing of it', async () => {
    const { gate, told, configs } = await household();
    const other = await household();
    told.length = 0;
    const { permit } = await gate.ask(request());
    await permit?.release();
    await configs.setAgent('orin', { coordination: {} });
    await gate.close();
    expect(told).toEqual(
      ['wakes', 'wakes', 'config'].map((what) => ({ kind: 'changed', time: MORNING, what, agentId: 'orin' })),
    );
    expect(await other.gate.stats('orin')).toMatchObject({ wakesToday: 0, lastWakeTime: null });
  });
});
