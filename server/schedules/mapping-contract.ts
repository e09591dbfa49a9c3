/** What the relay's other parts know of routines on projects. */
import type { z } from 'zod';
import type { AgentId, MappingId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import type { ResolvedRun } from '../../src/shared/domain/routine-mappings.ts';
import type { ProblemName } from '../../src/shared/protocol/problems.ts';
import type { Project } from '../../src/shared/protocol/projects.ts';
import type { AskedRecord } from '../../src/shared/protocol/records.ts';
import type {
  changeMappingSchema,
  createMappingSchema,
  Mapping,
  resolvedMappingsSchema,
} from '../../src/shared/protocol/routine-mappings.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { TeamTools } from '../agents/runs/team-tools.ts';
import type { EventLog } from '../log/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Logger } from '../platform/logger.ts';
import type { SetAside } from '../platform/set-aside.ts';
import type { HomeStore } from '../store/index.ts';
import type { Projects } from '../projects/board/index.ts';
import type { RecordSource } from '../team/records/index.ts';
import type { Row, ScheduleRows } from './rows.ts';

/** Nothing was changed. `field`: the field at fault, or null. */
export interface Refused {
  readonly ok: false;
  readonly reason: Extract<
    ProblemName,
    'no-project' | 'not-assigned' | 'unknown-schedule' | 'no-mapping' | 'mapped-already' | 'misfit' | 'too-many'
  >;
  readonly detail: string;
  readonly field: 'routineId' | 'columnIds' | 'toolOverrides' | null;
}
interface ChangedElsewhere {
  readonly ok: false;
  readonly reason: 'changed-elsewhere';
  readonly current: Mapping;
}
export type MappingOutcome<Value> = { readonly ok: true; readonly value: Value } | Refused;

/** A project in which a run looks for tasks. */
export interface Offer {
  readonly project: Project;
  /** Ids of the columns that are set for the run. */
  readonly columns: readonly string[];
  /** Those of them from which it takes tasks. */
  readonly takes: readonly string[];
}
/** One project of a run. */
export interface RunProject extends Offer {
  readonly mapping: Mapping;
}

/** One run of a due moment. */
export interface RoutineRun extends Omit<ResolvedRun, 'tools'> {
  /** Null: all that the agent may use, whatever that is at the time. */
  readonly tools: readonly string[] | null;
  /** Null: the routine was never given a project. */
  readonly projects: readonly RunProject[] | null;
  /** Where the run looks for tasks: its projects, or those of its agent. */
  readonly offers: readonly Offer[];
  /** Whether it takes tasks only from these. */
  readonly isLimited: boolean;
  /** The mapping that has this run of its own. Null: the run is the routine’s. */
  readonly own: MappingId | null;
  /** The name of the run in the history. */
  readonly name: string;
}

export type Where = readonly [projectId: ProjectId, agentId: AgentId];
export type Resolved = z.output<typeof resolvedMappingsSchema>['resolved'];

export interface Mappings {
  list(...at: Where): Promise<MappingOutcome<readonly Mapping[]>>;
  add(at: Where, given: z.output<typeof createMappingSchema>): Promise<MappingOutcome<Mapping>>;
  change(
    at: Where,
    mappingId: MappingId,
    given: z.output<typeof changeMappingSchema>,
  ): Promise<MappingOutcome<Mapping> | ChangedElsewhere>;
  remove(at: Where, mappingId: MappingId): Promise<MappingOutcome<null>>;
  /**
   * Columns of the project from which routines of this agent take tasks, as they are switched on
   * now. Null: from any that is ready, because one of them was never given a project.
   */
  takesFrom(project: Pick<Project, 'projectId' | 'columns'>, agentId: AgentId): Promise<readonly string[] | null>;
  /** What the next runs of the agent’s routines on this project get. */
  resolve(...at: Where): Promise<MappingOutcome<Resolved>>;
  /** The projects of these routines, oldest mapping first. */
  projectsOf(scheduleIds: readonly ScheduleId[]): Promise<ReadonlyMap<ScheduleId, readonly ProjectId[]>>;
  /** The runs of one due moment of this routine, at least one. */
  runsOf(row: Pick<Row, 'scheduleId'> & { readonly schedule: ScheduleOf<'routine'> }): Promise<readonly RoutineRun[]>;
  /** The tasks that this run could claim now. */
  readyFor(run: RoutineRun, agentId: AgentId): Promise<ReadyTasks>;
  /** Why the run may cost nothing: each of its projects has spent its day. Null: it may. */
  spentUp(run: RoutineRun): Promise<string | null>;
  /** The projects of a routine, as the person is shown them before they agree to it. */
  shownOf(scheduleId: ScheduleId): Promise<AskedProjects>;
  /** The person has agreed to this routine here, and so to its projects. */
  agree(scheduleId: ScheduleId): Promise<void>;
  readonly records: RecordSource;
  /** Removes mappings whose project or routine was deleted. */
  recover(): Promise<void>;
  close(): void;
}

export type AskedProjects = NonNullable<Extract<AskedRecord, { type: 'schedule' }>['projects']>;

/** Tasks that are ready for the agent of a run. */
export interface ReadyTasks {
  /** The number of tasks in each column of each project. */
  readonly counts: ReadonlyMap<ProjectId, ReadonlyMap<string, number>>;
  /** Names these tasks as they are now. Null: there are none. */
  readonly key: string | null;
}

export interface MappingsDeps extends HomeStore {
  readonly rows: Pick<ScheduleRows, 'get' | 'all'>;
  readonly projects: Pick<Projects, 'read' | 'ofAgent' | 'readyTasks' | 'spentUp'>;
  readonly configs: Pick<Configs, 'agent' | 'household'>;
  readonly tools: Pick<TeamTools, 'all'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  /** Whether the provider of this model searches the web. `model` null: the agent's own. */
  readonly readsWeb: (agentId: AgentId, model: string | null) => Promise<boolean>;
  /** Whether this is the agent’s default routine. */
  readonly isDefault: (scheduleId: ScheduleId, agentId: AgentId) => boolean;
  readonly onChange: (agentId: AgentId | null) => void;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}
