/**
 * What holds: an agent's own settings over the household's, over Roost's. Lists are replaced whole,
 * never joined.
 */
import { DEFAULT_LIMITS, DEFAULT_SLEEP_WAIT_SECONDS, HAND_BOUNDS, PULSE_BOUNDS } from '../domain/guardrails.ts';
import { grantsOver } from '../domain/toolsets.ts';
import { DEFAULT_COORDINATION, type AgentConfig, type EffectiveConfig, type HouseholdConfig } from './config.ts';

type Coordination = EffectiveConfig['coordination'];

/** `over` has only what differs. */
function laid(over: AgentConfig['coordination'], under: Coordination): Coordination {
  const { wake_guardrails: guardrails = {} } = over;
  const defaults = under.wake_guardrails;
  return {
    wakes_enabled: over.wakes_enabled ?? under.wakes_enabled,
    max_concurrent_pulse_sessions: over.max_concurrent_pulse_sessions ?? under.max_concurrent_pulse_sessions,
    wake_guardrails: {
      cooldown_seconds: guardrails.cooldown_seconds ?? defaults.cooldown_seconds,
      max_daily_session_minutes: guardrails.max_daily_session_minutes ?? defaults.max_daily_session_minutes,
      max_wakes_per_day: guardrails.max_wakes_per_day ?? defaults.max_wakes_per_day,
      max_wakes_per_pair_per_day: guardrails.max_wakes_per_pair_per_day ?? defaults.max_wakes_per_pair_per_day,
      max_wakes_per_session: guardrails.max_wakes_per_session ?? defaults.max_wakes_per_session,
    },
    blackouts: over.blackouts ?? under.blackouts,
    sleep_events: over.sleep_events ?? under.sleep_events,
    wake_events: over.wake_events ?? under.wake_events,
    may_propose_routines: over.may_propose_routines ?? under.may_propose_routines,
    may_put_others_to_sleep: over.may_put_others_to_sleep ?? under.may_put_others_to_sleep,
    ...grantsOver(over, under),
    command_seconds: over.command_seconds ?? under.command_seconds,
    workspace_megabytes: over.workspace_megabytes ?? under.workspace_megabytes,
    network: over.network ?? under.network,
    shell_without_sandbox: over.shell_without_sandbox ?? under.shell_without_sandbox,
    allowed_commands: over.allowed_commands ?? under.allowed_commands,
    // Null is a setting of its own: no program, and no limit.
    mind: over.mind === undefined ? under.mind : over.mind,
    daily_budget_usd: over.daily_budget_usd === undefined ? under.daily_budget_usd : over.daily_budget_usd,
  };
}

/**
 * `agent`: null for the household itself. `timeZone`: the relay's, for a household that has set
 * none.
 */
export function effectiveConfig(
  household: HouseholdConfig,
  agent: AgentConfig | null,
  timeZone: string,
): EffectiveConfig {
  // Of everybody it is not said, wherever that comes from.
  const forAll = { ...laid(household.coordination, DEFAULT_COORDINATION), shell_without_sandbox: false };
  return {
    coordination: agent ? laid(agent.coordination, forAll) : forAll,
    wakes_enabled: household.wakes_enabled ?? DEFAULT_LIMITS.householdEnabled,
    time_zone: household.time_zone ?? timeZone,
    flood_guard: {
      max_wakes: household.flood_guard?.max_wakes ?? DEFAULT_LIMITS.floodMaxWakes,
      window_seconds: household.flood_guard?.window_seconds ?? DEFAULT_LIMITS.floodWindowSeconds,
    },
    daily_budget_usd: household.daily_budget_usd ?? null,
    sleep_wait_seconds: household.sleep_wait_seconds ?? DEFAULT_SLEEP_WAIT_SECONDS,
    programs_at_once: household.programs_at_once ?? HAND_BOUNDS.programs_at_once.otherwise,
    pulse_container_timeout_ms:
      agent?.pulse_container_timeout_ms ??
      household.pulse_container_timeout_ms ??
      PULSE_BOUNDS.pulse_container_timeout_ms.otherwise,
    pulse_busy_wait_ms:
      agent?.pulse_busy_wait_ms ?? household.pulse_busy_wait_ms ?? PULSE_BOUNDS.pulse_busy_wait_ms.otherwise,
    pulse_max_consecutive_skips:
      agent?.pulse_max_consecutive_skips ??
      household.pulse_max_consecutive_skips ??
      PULSE_BOUNDS.pulse_max_consecutive_skips.otherwise,
    pulse_max_turns: agent?.pulse_max_turns ?? household.pulse_max_turns ?? PULSE_BOUNDS.pulse_max_turns.otherwise,
  };
}
