import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_LIMITS,
  GATE_CHECKS,
  PRESETS,
  WAKE_WAYS,
  type GateCheck,
  type WakeLimits,
} from '../../../../src/shared/domain/guardrails.ts';
import {
  decideWake,
  nextPass,
  sessionMs,
  type WakeFacts,
  type WakeQuestion,
} from '../../../../src/shared/domain/wake-gate.ts';
import { dayOf } from '../../../../src/shared/domain/zone-days.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ZONE = 'Europe/Berlin';
const utc = (text: string) => Date.parse(`${text}Z`);
/** A Tuesday, noon in Berlin. */
const NOON = utc('2026-06-16T10:00');
const MIDNIGHT = utc('2026-06-16T22:00');

const LIMITS: WakeLimits = { ...DEFAULT_LIMITS, timeZone: ZONE };
const ASK: WakeQuestion = { way: 'wake_agent', byPerson: false, state: 'idle' };
const nothing = (now = NOON): WakeFacts => ({
  day: dayOf(ZONE, now),
  callsInSession: 0,
  lastWake: null,
  wakesToday: 0,
  pairToday: 0,
  endedMs: 0,
  running: [],
  latest: [],
});
const decide = (
  facts: Partial<WakeFacts> = {},
  {
    now = NOON,
    limits = {},
    ask = {},
  }: { now?: number; limits?: Partial<WakeLimits>; ask?: Partial<WakeQuestion> } = {},
) => decideWake({ ...ASK, ...ask }, { ...LIMITS, ...limits }, { ...nothing(now), ...facts }, now);
const passes = { outcome: 'granted', check: null, until: null };
const stops = (check: GateCheck, until: number | null = null) => ({ outcome: 'suppressed', check, until });
const dark = [{ label: 'rest', start_time: '11:00', end_time: '13:00', days: [] }];

describe('each check at its edge', () => {
  it('lets whatever nothing stands against pass', () => {
    expect(decide()).toMatchObject(passes);
  });

  it('limits wake_agent alone by the source budget: three calls pass, the fourth fails', () => {
    expect(decide({ callsInSession: 2 })).toMatchObject(passes);
    expect(decide({ callsInSession: 3 })).toMatchObject({ outcome: 'error', check: 'source_budget', until: null });
    expect(decide({ callsInSession: 3 }).detail).toContain('limit of 3 wakes');
    for (const way of WAKE_WAYS.filter((each) => each !== 'wake_agent'))
      expect(decide({ callsInSession: 3 }, { ask: { way } })).toMatchObject(passes);
  });

  it('refuses a wake when the household or the agent has wakes disabled', () => {
    expect(decide({}, { limits: { householdEnabled: false } })).toMatchObject(stops('disabled'));
    expect(decide({}, { limits: { enabled: false } })).toMatchObject(stops('disabled'));
  });

  it('refuses a wake after 299 s of a cooldown of 300 s, and passes it after 300', () => {
    expect(decide({ lastWake: NOON - 299 * SECOND })).toMatchObject(stops('cooldown', NOON + SECOND));
    expect(decide({ lastWake: NOON - 300 * SECOND + 1 })).toMatchObject(stops('cooldown', NOON + 1));
    expect(decide({ lastWake: NOON - 300 * SECOND })).toMatchObject(passes);
    expect(decide({ lastWake: NOON }, { limits: { cooldownSeconds: 0 } })).toMatchObject(passes);
  });

  it('a day’s wakes: the 12th and not the 13th, until midnight', () => {
    expect(decide({ wakesToday: 11 })).toMatchObject(passes);
    expect(decide({ wakesToday: 12 })).toMatchObject(stops('daily', MIDNIGHT));
  });

  it('a day’s wakes of one pair: the 5th and not the 6th, until midnight', () => {
    expect(decide({ pairToday: 4 })).toMatchObject(passes);
    expect(decide({ pairToday: 5 })).toMatchObject(stops('pair', MIDNIGHT));
  });

  it('refuses a wake within a blackout, to the minute', () => {
    expect(decide({}, { limits: { blackouts: dark } })).toMatchObject(stops('blackout', NOON + HOUR));
    expect(decide({}, { limits: { blackouts: dark }, now: NOON - HOUR - 1 })).toMatchObject(passes);
    expect(decide({}, { limits: { blackouts: dark }, now: NOON + HOUR })).toMatchObject(passes);
  });

  it('limits wakes to 120 minutes of ended and running sessions', () => {
    expect(decide({ endedMs: 120 * MINUTE - 1 })).toMatchObject(passes);
    expect(decide({ endedMs: 120 * MINUTE })).toMatchObject(stops('minutes', MIDNIGHT));
    expect(decide({ endedMs: 60 * MINUTE, running: [NOON - HOUR + 1] })).toMatchObject(passes);
    expect(decide({ endedMs: 60 * MINUTE, running: [NOON - HOUR] })).toMatchObject(stops('minutes', MIDNIGHT));
  });

  it('allows two concurrent sessions and refuses the third', () => {
    expect(decide({ running: [NOON] })).toMatchObject(passes);
    expect(decide({ running: [NOON, NOON] })).toMatchObject(stops('concurrency'));
  });

  it('defers a wake of a busy or absent agent, and passes one of a sleeping agent', () => {
    expect(decide({}, { ask: { state: 'busy' } })).toMatchObject({ outcome: 'deferred', check: 'idle', until: null });
    expect(decide({}, { ask: { state: 'absent' } })).toMatchObject({ outcome: 'deferred', check: 'idle', until: null });
    expect(decide({}, { ask: { state: 'paused' } })).toMatchObject(passes);
  });

  it('lets five wakes in 60 s pass, and refuses the sixth', () => {
    const latest = [1, 2, 3, 4, 59].map((seconds) => NOON - seconds * SECOND);
    expect(decide({ latest: latest.slice(0, 4) })).toMatchObject(passes);
    expect(decide({ latest })).toMatchObject(stops('flood', NOON + SECOND));
    expect(decide({ latest }, { now: NOON + SECOND })).toMatchObject(passes);
  });

  it('checks schedules and cleared sleeping flags only against switch, blackouts, minutes and concurrency', () => {
    const used = {
      callsInSession: 9,
      lastWake: NOON,
      wakesToday: 99,
      pairToday: 99,
      latest: Array.from({ length: 5 }, () => NOON - 50 * SECOND),
    };
    const scheduled = ['schedule', 'reminder', 'script_failure'] as const;
    for (const way of scheduled) expect(decide(used, { ask: { way } }), way).toMatchObject(passes);
    expect(decide(used, { ask: { way: 'deferred', scheduled: true } })).toMatchObject(passes);
    expect(decide(used, { ask: { way: 'reminder', state: 'busy' } })).toMatchObject({ outcome: 'deferred' });
    for (const way of ['api', 'thread_added'] as const) {
      const ask = { way, state: 'paused' } as const;
      expect(decide({ ...used, latest: [] }, { ask })).toMatchObject(passes);
      // It waits for its turn, and for a minute at most.
      expect(decide(used, { ask })).toMatchObject(stops('flood', NOON + 10 * SECOND));
      const cleared = Array.from({ length: 5 }, () => NOON);
      const limits = { floodWindowSeconds: 3_600 };
      expect(decide({ cleared }, { ask: { ...ask, since: NOON }, limits })).toMatchObject(
        stops('flood', NOON + MINUTE),
      );
      expect(decide({ cleared }, { ask: { ...ask, since: NOON - MINUTE }, limits })).toMatchObject(passes);
      expect(decide({ cleared }, { ask: { way: 'api' } }), 'a wake counts wakes alone').toMatchObject(passes);
    }
    for (const way of [...scheduled, 'api', 'thread_added'] as const) {
      const ask = { way, state: 'paused' } as const;
      expect(decide({}, { ask, limits: { enabled: false } })).toMatchObject(stops('disabled'));
      expect(decide({}, { ask, limits: { blackouts: dark } })).toMatchObject(stops('blackout', NOON + HOUR));
      expect(decide({ endedMs: 120 * MINUTE }, { ask })).toMatchObject(stops('minutes', MIDNIGHT));
      expect(decide({ running: [NOON, NOON] }, { ask })).toMatchObject(stops('concurrency'));
    }
  });

  it('defers the wake of an agent at work, also at the limit of one session', () => {
    const ask = { state: 'busy', atWork: true } as const;
    const limits = { maxConcurrentSessions: 1 };
    expect(decide({ running: [NOON] }, { ask, limits })).toMatchObject({ outcome: 'deferred', check: 'idle' });
    expect(decide({ running: [] }, { ask, limits: { maxConcurrentSessions: 0 } })).toMatchObject(stops('concurrency'));
  });

  it.each([
    ['source_budget', { maxWakesPerSession: 0 }],
    ['daily', { maxWakesPerDay: 0 }],
    ['pair', { maxWakesPerPairPerDay: 0 }],
    ['minutes', { maxDailySessionMinutes: 0 }],
    ['concurrency', { maxConcurrentSessions: 0 }],
    ['flood', { floodMaxWakes: 0 }],
  ] as const)('0 means never: %s', (check, limits) => {
    expect(decide({}, { limits })).toMatchObject({ check, until: null });
    expect(nextPass(ASK, { ...LIMITS, ...limits }, nothing(), NOON)).toBeNull();
  });
});

describe('the days on which clocks change', () => {
  it.each([
    ['23 hours', utc('2026-03-28T23:00'), 23],
    ['25 hours', utc('2026-10-24T22:00'), 25],
  ])('a limit of the day holds for all of its %s', (_, start, hours) => {
    const end = start + hours * HOUR;
    const facts = { ...nothing(start), wakesToday: 12 };
    expect(decideWake(ASK, LIMITS, facts, end - 1)).toMatchObject(stops('daily', end));
    expect(decideWake(ASK, LIMITS, facts, end)).toMatchObject(passes);
    // A session that runs from one midnight to the next.
    expect(sessionMs({ ...facts, running: [start - HOUR] }, ZONE, end - 1)).toBe(hours * HOUR - 1);
    expect(sessionMs({ ...facts, running: [start - HOUR] }, ZONE, end + 5)).toBe(5);
  });
});

describe('the order of the checks', () => {
  it('checks in the order of the table, and the first failure decides', () => {
    const all = {
      callsInSession: 3,
      lastWake: NOON,
      wakesToday: 12,
      pairToday: 5,
      endedMs: 2 * HOUR,
      running: [NOON, NOON],
      latest: Array<number>(5).fill(NOON),
    };
    const mend: Record<GateCheck, () => void> = {
      source_budget: () => (facts = { ...facts, callsInSession: 0 }),
      disabled: () => (limits = { ...limits, enabled: true }),
      cooldown: () => (facts = { ...facts, lastWake: null }),
      daily: () => (facts = { ...facts, wakesToday: 0 }),
      pair: () => (facts = { ...facts, pairToday: 0 }),
      blackout: () => (limits = { ...limits, blackouts: [] }),
      minutes: () => (facts = { ...facts, endedMs: 0 }),
      concurrency: () => (facts = { ...facts, running: [] }),
      idle: () => (state = 'idle'),
      flood: () => (facts = { ...facts, latest: [] }),
    };
    let facts: Partial<WakeFacts> = all;
    let limits: Partial<WakeLimits> = { enabled: false, blackouts: dark };
    let state: WakeQuestion['state'] = 'busy';
    for (const check of GATE_CHECKS) {
      expect(decide(facts, { limits, ask: { state } }).check).toBe(check);
      mend[check]();
    }
    expect(decide(facts, { limits, ask: { state } })).toMatchObject(passes);
  });
});

const count = (max: number) => fc.integer({ min: 0, max });
const arbitraryLimits: fc.Arbitrary<WakeLimits> = fc.record({
  householdEnabled: fc.constant(true),
  enabled: fc.boolean(),
  timeZone: fc.constantFrom(ZONE, 'America/Havana', 'Australia/Lord_Howe'),
  maxWakesPerSession: count(4),
  cooldownSeconds: count(600),
  maxWakesPerDay: count(13),
  maxWakesPerPairPerDay: count(6),
  blackouts: fc.constantFrom([], dark, [{ label: '', start_time: '23:00', end_time: '11:00', days: [2, 3] }]),
  maxDailySessionMinutes: count(200),
  maxConcurrentSessions: count(3),
  floodMaxWakes: count(6),
  floodWindowSeconds: fc.integer({ min: 1, max: 120 }),
});
const ago = (max: number) => fc.integer({ min: 0, max }).map((ms) => NOON - ms);
const situation = fc
  .tuple(
    arbitraryLimits,
    fc.record({
      callsInSession: count(4),
      lastWake: fc.option(ago(700 * SECOND)),
      wakesToday: count(13),
      pairToday: count(6),
      endedMs: count(200 * MINUTE),
      running: fc.array(ago(3 * HOUR), { maxLength: 3 }),
      latest: fc.array(ago(100 * SECOND), { maxLength: 6 }).map((times) => times.toSorted((a, b) => b - a)),
    }),
    fc.record({
      way: fc.constantFrom(...WAKE_WAYS),
      byPerson: fc.constant(false),
      state: fc.constantFrom('absent', 'paused', 'idle', 'busy'),
    }),
  )
  .map(([limits, facts, question]) => ({ limits, facts: { ...facts, day: dayOf(limits.timeZone, NOON) }, question }));

describe('whatever the situation', () => {
  it('the person passes, and nobody else where waking is switched off', () => {
    fc.assert(
      fc.property(situation, ({ limits, facts, question }) => {
        expect(
          decideWake({ ...question, byPerson: true }, { ...limits, householdEnabled: false }, facts, NOON),
        ).toMatchObject(passes);
        expect(decideWake(question, { ...limits, householdEnabled: false }, facts, NOON).outcome).not.toBe('granted');
      }),
    );
  });

  it('a check says when it would pass: not a ms earlier', () => {
    fc.assert(
      fc.property(situation, ({ limits, facts, question }) => {
        const { check, until } = decideWake(question, limits, facts, NOON);
        if (until === null) return;
        expect(until).toBeGreaterThan(NOON);
        expect(decideWake(question, limits, facts, until - 1).check).not.toBeNull();
        expect(decideWake(question, limits, facts, until).check).not.toBe(check);
      }),
      { numRuns: 500 },
    );
  });

  it('the next wake passes when it is said to, and none before', () => {
    fc.assert(
      fc.property(
        situation,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        ({ limits, facts, question }, part) => {
          const next = nextPass(question, limits, facts, NOON);
          if (next === null) return;
          expect(decideWake(question, limits, facts, next)).toMatchObject(passes);
          if (next > NOON)
            expect(decideWake(question, limits, facts, NOON + Math.floor((next - NOON) * part)).outcome).not.toBe(
              'granted',
            );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('less of anything that counts never stops what passed', () => {
    fc.assert(
      fc.property(situation, ({ limits, facts, question }) => {
        if (decideWake(question, limits, facts, NOON).outcome !== 'granted') return;
        const less = {
          ...facts,
          callsInSession: 0,
          lastWake: null,
          wakesToday: 0,
          pairToday: 0,
          endedMs: 0,
          running: [],
          latest: [],
        };
        expect(decideWake(question, limits, less, NOON)).toMatchObject(passes);
      }),
    );
  });

  it('says in a whole sentence why', () => {
    fc.assert(
      fc.property(situation, ({ limits, facts, question }) => {
        expect(decideWake(question, limits, facts, NOON).detail).toMatch(/^[A-Z].*\.$/);
      }),
    );
  });
});

describe('two agents that wake each other for ever', () => {
  it.each(Object.entries(PRESETS))('stop at the limits of each day, with the preset "%s"', (_, preset) => {
    const limits = {
      ...LIMITS,
      maxWakesPerSession: 100,
      maxWakesPerDay: preset.max_wakes_per_day,
      cooldownSeconds: preset.cooldown_seconds,
    };
    const granted: { target: number; time: number }[] = [];
    for (let time = NOON; time < NOON + 72 * HOUR; time += 30 * SECOND) {
      for (const target of [0, 1]) {
        const day = dayOf(ZONE, time);
        const mine = granted.filter((wake) => wake.target === target);
        const today = mine.filter((wake) => wake.time >= day.start).length;
        const facts = {
          ...nothing(time),
          lastWake: mine.at(-1)?.time ?? null,
          wakesToday: today,
          pairToday: today,
          latest: granted.map((wake) => wake.time).toReversed(),
        };
        if (decideWake(ASK, limits, facts, time).outcome === 'granted') granted.push({ target, time });
      }
    }
    const days = new Set(granted.map(({ time }) => dayOf(ZONE, time).start));
    expect(days.size).toBe(4);
    expect(granted).toHaveLength(days.size * 2 * Math.min(5, preset.max_wakes_per_day));
  });
});
