/** The gate's part of what holds for an agent. */
import type { WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import type { EffectiveConfig } from '../../../src/shared/protocol/config.ts';

export { effectiveConfig } from '../../../src/shared/protocol/effective.ts';

export function limitsOf({ coordination, wakes_enabled, time_zone, flood_guard }: EffectiveConfig): WakeLimits {
  const { wake_guardrails: guardrails } = coordination;
  return {
    householdEnabled: wakes_enabled,
    enabled: coordination.wakes_enabled,
    timeZone: time_zone,
    maxWakesPerSession: guardrails.max_wakes_per_session,
    cooldownSeconds: guardrails.cooldown_seconds,
    maxWakesPerDay: guardrails.max_wakes_per_day,
    maxWakesPerPairPerDay: guardrails.max_wakes_per_pair_per_day,
    blackouts: coordination.blackouts,
    maxDailySessionMinutes: guardrails.max_daily_session_minutes,
    maxConcurrentSessions: coordination.max_concurrent_pulse_sessions,
    floodMaxWakes: flood_guard.max_wakes,
    floodWindowSeconds: flood_guard.window_seconds,
  };
}
