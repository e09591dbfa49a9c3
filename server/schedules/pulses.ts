/**
 * An agent's default routine, as its settings say it. There is one truth: the routine itself, which
 * the person sees and changes among the others; the settings read and write it.
 */
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import {
  DEFAULT_INSTRUCTIONS,
  DEFAULT_INTERVAL,
  DEFAULT_ROUTINE_NAME,
} from '../../src/shared/domain/schedule/default-routine.ts';
import { isSameJson } from '../../src/shared/domain/platform/json.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { AgentConfig, PulseChanges, PulseSettings } from '../../src/shared/protocol/config.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { scheduleSchema, type Schedule, type Scheduled, type ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Configs, Pulses } from '../contracts/index.ts';
import { misfitIn } from '../http/problem.ts';
import { isAgreed } from './agreed.ts';
import type { Copies } from './copies.ts';
import type { Written } from './refusals.ts';
import type { ScheduleRows } from './rows.ts';

export interface PulsesDeps {
  readonly schedules: {
    get(scheduleId: ScheduleId): Promise<Scheduled | null>;
    put(scheduleId: ScheduleId, schedule: Schedule): Promise<Written>;
    freeName(agentId: AgentId, name: string): Promise<string>;
  };
  readonly copies: Pick<Copies, 'allow'>;
  readonly configs: Pick<Configs, 'agent' | 'setAgent'>;
}

/** By which it is known among the agent's routines, whatever its name. */
const pulseIdOf = (agentId: AgentId) => `pulse of ${agentId}`.slice(0, LIMITS.id);

/**
 * The default routine as the person has agreed to it here, on or off: what an agent does that is
 * woken.
 */
export const createRoutineOf =
  (rows: Pick<ScheduleRows, 'get'>) =>
  async (agentId: AgentId): Promise<ScheduleOf<'routine'> | null> => {
    const row = await rows.get(pulseIdOf(agentId));
    return row?.schedule.kind === 'routine' && isAgreed(row.agreed, row.schedule) ? row.schedule : null;
  };

export function createPulses({ schedules, copies, configs }: PulsesDeps): Pulses {
  async function routineOf(agentId: AgentId): Promise<ScheduleOf<'routine'> | null> {
    const scheduled = await schedules.get(pulseIdOf(agentId));
    return scheduled?.schedule.kind === 'routine' ? scheduled.schedule : null;
  }
  async function of(agentId: AgentId): Promise<PulseSettings> {
    const [routine, { own, effective }] = await Promise.all([routineOf(agentId), configs.agent(agentId)]);
    const timing = routine?.timing.kind === 'every' ? routine.timing : null;
    return {
      pulse_enabled: routine?.enabled ?? false,
      pulse_interval_minutes: timing?.minutes ?? DEFAULT_INTERVAL,
      pulse_offset_minutes: timing?.offset ?? null,
      pulse_blackouts: effective.coordination.blackouts,
      pulse_container_timeout_ms: effective.pulse_container_timeout_ms,
      pulse_busy_wait_ms: effective.pulse_busy_wait_ms,
      pulse_max_consecutive_skips: effective.pulse_max_consecutive_skips,
      pulse_max_turns: effective.pulse_max_turns,
      pulse_columns: own.pulse_columns ?? [],
      pulse_transitions_to: own.pulse_transitions_to ?? null,
      planning_model: own.planning_model ?? null,
      executor_model: own.executor_model ?? null,
    };
  }
  /**
   * Said under either name. Where an answer is sent back with one of them changed, that one is
   * meant.
   */
  async function blackoutsOf(agentId: AgentId, { coordination }: AgentConfig, said: PulseChanges['pulse_blackouts']) {
    if (said === undefined) return {};
    const { effective } = await configs.agent(agentId);
    if (isSameJson(said, effective.coordination.blackouts) || isSameJson(said, coordination.blackouts)) return {};
    if (coordination.blackouts === undefined || isSameJson(coordination.blackouts, effective.coordination.blackouts))
      return { blackouts: said };
    throw misfitIn('pulse_blackouts', 'is said twice, and not the same: `coordination.blackouts` says something else');
  }

  return {
    of,
    async set(agentId, { config, pulse, byPerson, version }) {
      const before = await of(agentId);
      const enabled = pulse.pulse_enabled ?? before.pulse_enabled;
      const minutes = pulse.pulse_interval_minutes ?? before.pulse_interval_minutes;
      const offset =
        pulse.pulse_offset_minutes === undefined ? before.pulse_offset_minutes : pulse.pulse_offset_minutes;
      if (offset !== null && offset >= minutes)
        throw misfitIn('pulse_offset_minutes', 'must be shorter than the interval');
      if (enabled && agentId === LEAD_ID)
        throw misfitIn('pulse_enabled', 'the lead is there with the person, and has no routines');
      const blackouts = await blackoutsOf(agentId, config, pulse.pulse_blackouts);
      const changed =
        enabled !== before.pulse_enabled ||
        minutes !== before.pulse_interval_minutes ||
        offset !== before.pulse_offset_minutes;
      if (changed) {
        const routine = await routineOf(agentId);
        const name = routine?.name ?? (await schedules.freeName(agentId, DEFAULT_ROUTINE_NAME));
        const written = await schedules.put(
          pulseIdOf(agentId),
          scheduleSchema.parse({
            instructions: DEFAULT_INSTRUCTIONS,
            when: 'something_waits',
            ...routine,
            kind: 'routine',
            agentId,
            name,
            enabled,
            timing: { kind: 'every', minutes, offset },
          }),
        );
        if (!written.ok) throw misfitIn('pulse_enabled', written.reason);
        if (enabled && byPerson) await copies.allow(agentId);
      }
      const coordination = { ...config.coordination, ...blackouts };
      return await configs.setAgent(agentId, { ...config, coordination }, version);
    },
  };
}
