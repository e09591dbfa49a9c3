/**
 * Routines on projects: which columns, tools and models a run of a routine has, and which projects
 * it works on. Pure: the relay's runs, its answers and the page apply the same rules.
 *
 * `null` means not set. An empty list means none.
 */
import { type Column, givesTasks } from './projects.ts';

/** What one mapping sets over its routine. */
interface MappingRules {
  /** Ids of columns of its project. */
  readonly columnIds: readonly string[] | null;
  /** Names of tools. */
  readonly toolOverrides: readonly string[] | null;
  /** The project has a run of its own. */
  readonly separate: boolean;
}

interface RoutineRules {
  /** Ids, names or kinds of columns, because the projects of a routine have different ones. */
  readonly pulse_columns: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly model: string | null;
  readonly planningModel: string | null;
  readonly executorModel: string | null;
}

/** Models as they are set for an agent or a household. */
interface ModelRules {
  readonly planning_model?: string | null | undefined;
  readonly executor_model?: string | null | undefined;
}

/** What the rules read besides the mappings of one run. */
export interface RunRules {
  readonly routine: RoutineRules;
  /** `tools`: all that the agent may use. No mapping and no routine gives it another one. */
  readonly agent: ModelRules & { readonly tools: readonly string[] };
  readonly household: ModelRules;
}

/** What a run of a routine has. */
export interface ResolvedRun {
  readonly tools: readonly string[];
  /** Model of the run. Null: the agent's own. */
  readonly planningModel: string | null;
  /** Model of the executors that the run starts. Null: the agent's own. */
  readonly executorModel: string | null;
}

/** Whether this text names the column: by its id, its kind, or its name in any case. */
export const isNamed = ({ columnId, name, kind }: Column, said: string): boolean =>
  said === columnId || said === kind || said.trim().toLowerCase() === name.trim().toLowerCase();

/**
 * Columns of a project, in the order of the board, from which a run takes tasks. A column that is
 * set and was deleted since is left out. No other takes its place.
 */
export function resolveColumns(
  project: { readonly columns: readonly Column[] },
  { columnIds }: Pick<MappingRules, 'columnIds'>,
  { pulse_columns: ofRoutine }: Pick<RoutineRules, 'pulse_columns'>,
): readonly string[] {
  const isTaken = (column: Column) =>
    columnIds?.includes(column.columnId) ?? ofRoutine?.some((said) => isNamed(column, said)) ?? true;
  return project.columns.filter(isTaken).map(({ columnId }) => columnId);
}

/**
 * Of these columns, those from which a run takes tasks: what the person chose, of any kind but
 * done. Where neither the mapping nor the routine chooses, the ready ones.
 */
export function takenColumns(
  project: { readonly columns: readonly Column[] },
  mapping: Pick<MappingRules, 'columnIds'>,
  routine: Pick<RoutineRules, 'pulse_columns'>,
): readonly string[] {
  const columns = resolveColumns(project, mapping, routine);
  const isChosen = mapping.columnIds !== null || routine.pulse_columns !== null;
  return columns.filter((columnId) => givesTasks(project, columnId, isChosen ? columns : undefined));
}

/**
 * The tools and models of one run.
 *
 * A run about several projects has only tools that all of its mappings allow: nobody can say for
 * which of the projects a command runs. `mappings` empty: the routine works on no project.
 */
export function resolveRun(
  { routine, agent, household }: RunRules,
  mappings: readonly Pick<MappingRules, 'toolOverrides'>[],
): ResolvedRun {
  const lists =
    mappings.length === 0 ? [routine.tools] : mappings.map(({ toolOverrides }) => toolOverrides ?? routine.tools);
  return {
    tools: agent.tools.filter((name) => lists.every((list) => list === null || list.includes(name))),
    planningModel: routine.planningModel ?? routine.model ?? agent.planning_model ?? household.planning_model ?? null,
    executorModel: routine.executorModel ?? routine.model ?? agent.executor_model ?? household.executor_model ?? null,
  };
}

/**
 * The runs of one due moment: one about all projects, and one for each mapping that has its own.
 * The shared run is the first, if there is one.
 */
export function runsOfMappings<Mapping extends Pick<MappingRules, 'separate'>>(
  mappings: readonly Mapping[],
): readonly (readonly Mapping[])[] {
  const shared = mappings.filter(({ separate }) => !separate);
  const own = mappings.filter(({ separate }) => separate).map((mapping) => [mapping]);
  return shared.length === 0 ? own : [shared, ...own];
}
