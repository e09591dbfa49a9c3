/** What holds where nothing is set, for parts that are tested without the store of settings. */
import { DEFAULT_LIMITS, DEFAULT_SLEEP_WAIT_SECONDS, type SleepEvent } from '../../src/domain/guardrails.ts';
import { agentConfigSchema, type AgentConfig, type EffectiveConfig } from '../../src/protocol/config.ts';

export function effectiveConfig({ sleepEvents = [] }: { readonly sleepEvents?: readonly SleepEvent[] } = {}): { readonly own: AgentConfig; readonly effective: EffectiveConfig } {
  const effective: EffectiveConfig = {
    coordination: {
      wakes_enabled: DEFAULT_LIMITS.enabled,
      max_concurrent_pulse_sessions: DEFAULT_LIMITS.maxConcurrentSessions,
      wake_guardrails: {
        cooldown_seconds: DEFAULT_LIMITS.cooldownSeconds,
        max_daily_session_minutes: DEFAULT_LIMITS.maxDailySessionMinutes,
        max_wakes_per_day: DEFAULT_LIMITS.maxWakesPerDay,
        max_wakes_per_pair_per_day: DEFAULT_LIMITS.maxWakesPerPairPerDay,
        max_wakes_per_session: DEFAULT_LIMITS.maxWakesPerSession,
      },
      blackouts: [],
      sleep_events: [...sleepEvents],
      wake_events: [],
      may_put_others_to_sleep: false,
      daily_budget_usd: null,
    },
    wakes_enabled: DEFAULT_LIMITS.householdEnabled,
    time_zone: 'UTC',
    flood_guard: { max_wakes: DEFAULT_LIMITS.floodMaxWakes, window_seconds: DEFAULT_LIMITS.floodWindowSeconds },
    daily_budget_usd: null,
    sleep_wait_seconds: DEFAULT_SLEEP_WAIT_SECONDS,
  };
  return { own: agentConfigSchema.parse({}), effective };
}
