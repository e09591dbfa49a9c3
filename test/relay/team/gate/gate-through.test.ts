/** The gate's limits at their edges, asked for in a running relay with a clock of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HouseholdConfig } from '../../../../src/shared/protocol/config.ts';
import type { WakeSource } from '../../../../src/shared/protocol/wakes.ts';
import { openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SAGE = payload(1, { name: 'Sage' });
const ROOK = payload(2, { name: 'Rook' });
const NOON = Date.UTC(2026, 5, 10, 12);
const api = (name: string): WakeSource => ({ kind: 'api', name });

interface Clock {
  time: number;
}
interface Opened {
  readonly house: Household;
  readonly clock: Clock;
  /**
   * What became of a wake of `target`, by somebody of this name; its session is over when this
   * resolves.
   */
  ask(by?: string, target?: string): Promise<string>;
}

describe('a running relay', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  async function open(config: HouseholdConfig, time = NOON): Promise<Opened> {
    const clock: Clock = { time };
    const house = await bench.open({ now: () => clock.time });
    await house.team.configs.setHousehold({ time_zone: 'UTC', ...config });
    await house.start();
    await house.wake([SAGE, ROOK]);
    await house.until(() => house.of('agent-awake').length === 2);
    await house.untilQuiet();
    return {
      house,
      clock,
      async ask(by = 'a tool', target = SAGE.id) {
        const { decision } = await house.team.wakes.ask({
          target,
          source: api(by),
          way: 'api',
          reason: null,
          messageId: null,
          callerSession: null,
        });
        await expect.poll(async () => (await house.team.gate.stats(target)).running).toBe(0);
        return decision.check ?? decision.outcome;
      },
    };
  }
  const limits = (
    wake_guardrails: NonNullable<HouseholdConfig['coordination']['wake_guardrails']>,
  ): HouseholdConfig => ({ coordination: { wake_guardrails }, flood_guard: { max_wakes: 1_000 } });
  const many = { cooldown_seconds: 0, max_wakes_per_day: 1_000, max_wakes_per_pair_per_day: 1_000 };

  it('refuses at 299 s and grants at 300 s', async () => {
    const { clock, ask } = await open({ coordination: {} });
    expect(await ask('one')).toBe('granted');
    clock.time += 299 * SECOND;
    expect(await ask('another')).toBe('cooldown');
    clock.time += SECOND;
    expect(await ask('another')).toBe('granted');
  });

  it('grants the 12th of a day and not the 13th, until midnight in the household’s zone', async () => {
    // 23:00 in New York; its midnight is 04:00 UTC.
    const { clock, ask } = await open(
      { coordination: {}, time_zone: 'America/New_York', flood_guard: { max_wakes: 1_000 } },
      Date.UTC(2026, 5, 10, 4),
    );
    for (let n = 1; n <= 12; n++) {
      expect(await ask(`caller ${n}`), `wake ${n}`).toBe('granted');
      clock.time += 5 * MINUTE;
    }
    expect(await ask('caller 13')).toBe('daily');
    clock.time = Date.UTC(2026, 5, 11, 4) - 1;
    expect(await ask('caller 13')).toBe('daily');
    clock.time += 1;
    expect(await ask('caller 13')).toBe('granted');
  });

  it('grants a pair its 5th and not its 6th', async () => {
    const { ask } = await open(limits({ ...many, max_wakes_per_pair_per_day: 5 }));
    for (let n = 1; n <= 5; n++) expect(await ask('one'), `wake ${n}`).toBe('granted');
    expect(await ask('one')).toBe('pair');
    expect(await ask('another')).toBe('granted');
    expect(await ask('one', ROOK.id)).toBe('granted');
  });

  it.each([
    ['max_wakes_per_day', 'daily'],
    ['max_wakes_per_pair_per_day', 'pair'],
    ['max_daily_session_minutes', 'minutes'],
  ])('never wakes where %s is 0', async (limit, check) => {
    const { house, ask } = await open(limits({ ...many, [limit]: 0 }));
    expect(await ask()).toBe(check);
    // Live: the next is decided by what was set meanwhile.
    await house.team.configs.setHousehold({ time_zone: 'UTC', ...limits(many) });
    expect(await ask()).toBe('granted');
  });

  it.each([
    // Berlin, 2026: 02:00 becomes 03:00 on 29 March, 03:00 becomes 02:00 on 25 October.
    ['in spring', Date.UTC(2026, 2, 28, 22), Date.UTC(2026, 2, 28, 23), Date.UTC(2026, 2, 29, 22)],
    ['in autumn', Date.UTC(2026, 9, 24, 21), Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 23)],
  ])('counts a day of 23 or 25 hours as one, where the clocks change %s', async (_when, before, midnight, next) => {
    const { clock, ask } = await open(
      { ...limits({ ...many, max_wakes_per_day: 1 }), time_zone: 'Europe/Berlin' },
      before,
    );
    expect(await ask()).toBe('granted');
    clock.time = midnight - 1;
    expect(await ask()).toBe('daily');
    clock.time = midnight;
    expect(await ask()).toBe('granted');
    clock.time = next - 1;
    expect(await ask()).toBe('daily');
    clock.time = next;
    expect(await ask()).toBe('granted');
  });

  it('defers wakes in a blackout across midnight, to the minute', async () => {
    const night = { label: 'night', start_time: '22:00', end_time: '07:00', days: [] };
    const { clock, ask } = await open(
      { coordination: { ...limits(many).coordination, blackouts: [night] }, flood_guard: { max_wakes: 1_000 } },
      NOON + 10 * HOUR - 1,
    );
    expect(await ask()).toBe('granted');
    clock.time += 1;
    expect(await ask()).toBe('blackout');
    clock.time = NOON + 19 * HOUR - 1;
    expect(await ask()).toBe('blackout');
    clock.time += 1;
    expect(await ask()).toBe('granted');
  });

  it('lets five through in a minute, over the whole household, and never counts the person', async () => {
    const { house, clock, ask } = await open({ coordination: limits(many).coordination });
    for (let n = 0; n < 8; n++)
      await house.team.wakes.ask({
        target: SAGE.id,
        source: { kind: 'person' },
        way: 'person',
        reason: null,
        messageId: null,
        callerSession: null,
      });
    for (let n = 1; n <= 5; n++)
      expect(await ask(`caller ${n}`, n % 2 === 0 ? SAGE.id : ROOK.id), `wake ${n}`).toBe('granted');
    expect(await ask()).toBe('flood');
    clock.time += 59_999;
    expect(await ask()).toBe('flood');
    clock.time += 1;
    expect(await ask()).toBe('granted');
  });

  it('defers a wake of somebody who is not in the session, and of everybody when none runs', async () => {
    const { house, ask } = await open(limits(many));
    expect(await ask('a tool', 'somebody')).toBe('idle');
    await house.team.host.end('ended');
    expect(await ask()).toBe('idle');
  });
});
