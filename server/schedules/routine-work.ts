/** What a run of a routine gets: its words, its models, and its limits. */
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { RoutineRun } from './mapping-contract.ts';

/** A run on projects plans with one model. Executors that it starts have another. */
export const modelsOf = ({ projects, planningModel, executorModel }: RoutineRun) => ({
  model: planningModel,
  laterModel: projects === null ? executorModel : planningModel,
});

/** What starts a run of a routine. `about`: its projects. */
export const dueText = (name: string, when: string, isLate: boolean, about: string | null): string =>
  [`[Your routine ${name} is due: ${when}${isLate ? ', made up for' : ''}]`, ...(about === null ? [] : [about])].join(
    '\n\n',
  );

/** What each run of a routine gets, whenever it is due. */
export const workOf = (
  schedule: ScheduleOf<'routine'>,
  run: RoutineRun,
  effective: Awaited<ReturnType<Configs['agent']>>['effective'],
) => ({
  agentId: schedule.agentId,
  cause: { kind: 'pulse', routine: schedule.name } as const,
  instructions: schedule.instructions,
  columns: [],
  ...modelsOf(run),
  tools: run.tools,
  timeoutMs: schedule.timeoutMs ?? effective.pulse_container_timeout_ms,
  busyMs: effective.pulse_busy_wait_ms,
  maxTurns: schedule.maxTurns ?? effective.pulse_max_turns,
});
