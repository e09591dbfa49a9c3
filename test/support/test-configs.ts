/** Settings that a test changes, with every default filled in. */
import type { Configs } from '../../server/contracts.ts';
import { DEFAULT_LIMITS, DEFAULT_SLEEP_WAIT_SECONDS } from '../../src/domain/guardrails.ts';
import type { EffectiveConfig } from '../../src/protocol/config.ts';

export interface TestConfigs extends Configs {
  /** US dollars a day. */
  householdBudget(usd: number | null): void;
  agentBudget(agentId: string, usd: number | null): void;
  zone(name: string): void;
  sleepWait(seconds: number): void;
}

export function createTestConfigs(): TestConfigs {
  const budgets = new Map<string, number | null>();
  let budget: number | null = null;
  let timeZone = 'UTC';
  let sleepWaitSeconds: number = DEFAULT_SLEEP_WAIT_SECONDS;
  const effective = (agentBudget: number | null): EffectiveConfig => ({
    coordination: {
      wakes_enabled: true,
      max_concurrent_pulse_sessions: DEFAULT_LIMITS.maxConcurrentSessions,
      wake_guardrails: {
        cooldown_seconds: DEFAULT_LIMITS.cooldownSeconds,
        max_daily_session_minutes: DEFAULT_LIMITS.maxDailySessionMinutes,
        max_wakes_per_day: DEFAULT_LIMITS.maxWakesPerDay,
        max_wakes_per_pair_per_day: DEFAULT_LIMITS.maxWakesPerPairPerDay,
        max_wakes_per_session: DEFAULT_LIMITS.maxWakesPerSession,
      },
      blackouts: [],
      sleep_events: [],
      wake_events: [],
      may_put_others_to_sleep: false,
      daily_budget_usd: agentBudget,
    },
    wakes_enabled: true,
    time_zone: timeZone,
    flood_guard: { max_wakes: DEFAULT_LIMITS.floodMaxWakes, window_seconds: DEFAULT_LIMITS.floodWindowSeconds },
    daily_budget_usd: budget,
    sleep_wait_seconds: sleepWaitSeconds,
  });
  const notHere = () => Promise.reject(new Error('these settings are changed by the test alone'));
  return {
    agent: (agentId) => Promise.resolve({ own: { coordination: {} }, effective: effective(budgets.get(agentId) ?? null) }),
    household: () => Promise.resolve({ own: { coordination: {} }, effective: effective(null) }),
    setAgent: notHere,
    setHousehold: notHere,
    limits: () => Promise.resolve({ ...DEFAULT_LIMITS, timeZone }),
    householdBudget: (usd) => void (budget = usd),
    agentBudget: (agentId, usd) => void budgets.set(agentId, usd),
    zone: (name) => void (timeZone = name),
    sleepWait: (seconds) => void (sleepWaitSeconds = seconds),
  };
}
