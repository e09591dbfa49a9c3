/**
 * Routines on projects. A mapping lets one routine of an agent work on one project, with what the
 * project sets for it. The rules are in `src/shared/domain/routine-mappings.ts`.
 *
 * Main types: `Mappings`, `RoutineRun`.
 *
 * Invariants:
 * - A run gets exactly what `resolve` answers. Both come from `runsOf`.
 * - A routine that was ever given projects takes tasks only from those. When the last of them is
 *   gone, it takes none.
 * - The default routine, and one with columns of its own, looks in all projects of its agent as
 *   long as it was given none.
 * - A mapping of a deleted project or routine is removed. While its agent is not assigned to the
 *   project, a mapping has no effect.
 * - A mapping that was restored has no effect before the person has agreed to it here.
 */
import { createHash } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { AgentId, MappingId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { givesTasks, kindOfColumn } from '../../src/shared/domain/projects.ts';
import { titled } from '../../src/shared/domain/quoting.ts';
import {
  resolveColumns,
  resolveRun,
  type ResolvedRun,
  runsOfMappings,
  takenColumns,
} from '../../src/shared/domain/routine-mappings.ts';
import { PROVIDER_TOOLS } from '../../src/shared/domain/toolsets.ts';
import type { ProblemName } from '../../src/shared/protocol/problems.ts';
import type { Project } from '../../src/shared/protocol/projects.ts';
import type { AskedRecord, RecordAnswer } from '../../src/shared/protocol/records.ts';
import {
  type changeMappingSchema,
  type createMappingSchema,
  type Mapping,
  type MappingValue,
  mappingValueSchema,
  MOST_MAPPINGS,
  type resolvedMappingsSchema,
} from '../../src/shared/protocol/routine-mappings.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { allowedTools, type TeamTools } from '../agents/runs/team-tools.ts';
import type { Caller, Configs, EventLog, RunScope } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { isBefore, isOneOf } from '../store/dialect.ts';
import type { Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import type { Projects } from '../team/projects/index.ts';
import { type RecordSource, stampRow, stampsOf, statusAt } from '../team/records/index.ts';
import { isOn, json, type Row, type ScheduleRows } from './rows.ts';
import { SCHEDULE_LIMITS } from './settings.ts';

/** Nothing was changed. `field`: the field at fault, or null. */
interface Refused {
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
interface Offer {
  readonly project: Project;
  /** Ids of the columns that are set for the run. */
  readonly columns: readonly string[];
  /** Those of them from which it takes tasks. */
  readonly takes: readonly string[];
}
/** One project of a run. */
interface RunProject extends Offer {
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

type Where = readonly [projectId: ProjectId, agentId: AgentId];
type Resolved = z.output<typeof resolvedMappingsSchema>['resolved'];

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
interface ReadyTasks {
  /** By project: how many of each column. */
  readonly counts: ReadonlyMap<ProjectId, ReadonlyMap<string, number>>;
  /** Names these tasks as they are now. Null: there are none. */
  readonly key: string | null;
}

/** One line for each project, with its columns and how many tasks of each are ready. */
const offersText = (offers: readonly Offer[], { counts }: ReadyTasks): string[] =>
  offers.map(({ project, columns }) => {
    const named = columns.flatMap((columnId) => {
      const column = project.columns.find((each) => each.columnId === columnId);
      if (!column) return [];
      const count = counts.get(project.projectId)?.get(columnId) ?? 0;
      return [`${titled(column.name)}, id ${columnId} (${column.kind}), ready: ${count}`];
    });
    return `- ${titled(project.name)}, id ${project.projectId}. Columns: ${named.length === 0 ? 'none' : named.join('; ')}`;
  });

/** The projects in the prompt of a run. Null: it is about none, and no task is ready for it. */
export function projectsText(
  { projects, offers }: Pick<RoutineRun, 'projects' | 'offers'>,
  ready: ReadyTasks,
): string | null {
  if (projects?.length === 0)
    return '[The projects of this routine are gone, are not yours any more, or wait for the human’s yes. Take no task in this run.]';
  if (projects !== null)
    return [
      '[This run is about these projects. Take tasks only from the columns named here. Each says how many tasks are ready for you.]',
      ...offersText(offers, ready),
    ].join('\n');
  if (ready.key === null) return null;
  const offered = offers
    .filter(({ project }) => (ready.counts.get(project.projectId)?.size ?? 0) > 0)
    .map((offer) => ({ ...offer, columns: offer.takes }));
  return [
    '[Tasks of your projects are ready for you. Each column says how many. get_ready_tasks lists them. Claim one with claim_task, work on it, and hand it on with transition_task. If you cannot take any, say why in a comment on the task.]',
    ...offersText(offered, ready),
  ].join('\n');
}

/** What the run may use and take. */
export const scopeOf = (agentId: AgentId, { offers, isLimited, tools, executorModel }: RoutineRun): RunScope => ({
  agentId,
  executorModel,
  tools: tools && new Set(tools),
  columns: isLimited ? new Map(offers.map(({ project, takes }) => [project.projectId, takes])) : null,
});

interface MappingsDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
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

const refuse = (reason: Refused['reason'], detail: string, field: Refused['field'] = null): Refused => ({
  ...{ ok: false, reason, detail, field },
});
const NO_MAPPING = refuse('no-mapping', 'This routine does not work on the project.');
const done = <Value>(value: Value): { readonly ok: true; readonly value: Value } => ({ ok: true, value });

const hashOf = (texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32);
/** There is one mapping of a routine and a project, on every relay. */
const mappingIdOf = (projectId: ProjectId, routineId: ScheduleId): MappingId => hashOf([projectId, routineId]);

type MappingRow = Selectable<Tables['routine_mappings']>;
/** `removed` is a column of its own, so that one statement can remove rows. */
const storedSchema = mappingValueSchema.omit({ removed: true });
type Stored = z.infer<typeof storedSchema>;
const storedOf = (row: Pick<MappingRow, 'value_json'>): Stored => storedSchema.parse(JSON.parse(row.value_json));
const valueOf = (row: MappingRow): MappingValue => ({ ...storedOf(row), removed: row.removed });

const NO_SIGNAL = new AbortController().signal;
/** The agent as it calls tools in a run of its own. */
const callerOf = (agentId: AgentId): Caller => ({
  ...{ agentId, sessionId: null, run: '', kind: 'run', signal: NO_SIGNAL },
});

export function createMappings(deps: MappingsDeps): Mappings {
  const { db, home, rows, projects, configs, now, setAside = SETS_NOTHING_ASIDE } = deps;
  /** The rows that can be read. */
  const readable = (all: readonly MappingRow[]) =>
    setAside.read(
      'mappings',
      all,
      ({ mapping }) => mapping,
      (row) => ({ ...row, stored: storedOf(row) }),
    );
  const table = () => db.selectFrom('routine_mappings').selectAll().where('home', '=', home);

  async function assigned([projectId, agentId]: Where): Promise<MappingOutcome<Project>> {
    const found = await projects.read(projectId);
    if (!found.ok) return refuse('no-project', 'There is no such project.');
    return found.value.agents.includes(agentId)
      ? found
      : refuse('not-assigned', 'The agent does not work on this project. Add it to the project first.');
  }
  async function routineOf(scheduleId: ScheduleId): Promise<ScheduleOf<'routine'> | null> {
    const row = await rows.get(scheduleId);
    return row?.schedule.kind === 'routine' ? row.schedule : null;
  }
  function shown(row: MappingRow & { readonly stored: Stored }, routine: ScheduleOf<'routine'>): Mapping {
    const { mapping: mappingId, version, agreed } = row;
    return { ...row.stored, mappingId, version, name: routine.name, enabled: routine.enabled, waits: !agreed };
  }
  async function mappingsAt([projectId, agentId]: Where): Promise<readonly Mapping[]> {
    const found = await table()
      .where('project', '=', projectId)
      .where('agent_json', '=', json(agentId))
      .where('removed', '=', false)
      .orderBy('created_at')
      .orderBy('mapping')
      .execute();
    const all: Mapping[] = [];
    for (const row of readable(found)) {
      const routine = await routineOf(row.schedule);
      if (routine?.agentId === agentId) all.push(shown(row, routine));
    }
    return all;
  }
  async function one(at: Where, mappingId: MappingId): Promise<Mapping | null> {
    return (await mappingsAt(at)).find((each) => each.mappingId === mappingId) ?? null;
  }

  function refuseFields(
    project: Project,
    {
      columnIds,
      toolOverrides,
    }: {
      readonly columnIds?: readonly string[] | null | undefined;
      readonly toolOverrides?: readonly string[] | null | undefined;
    },
  ): Refused | null {
    const column = (columnIds ?? []).find((columnId) => kindOfColumn(project, columnId) === null);
    if (column !== undefined) return refuse('misfit', `The project has no column ${titled(column)}.`, 'columnIds');
    const known = new Set(deps.tools.all().map(({ name }) => name));
    const tool = (toolOverrides ?? []).find((name) => !known.has(name));
    return tool === undefined ? null : refuse('misfit', `There is no tool called ${titled(tool)}.`, 'toolOverrides');
  }

  /** The columns of a row that follow from its value. */
  const columnsOf = (value: Stored) => ({
    project: value.projectId,
    schedule: value.routineId,
    agent_json: json(value.agentId),
    value_json: JSON.stringify(storedSchema.parse(value)),
  });

  // Runs

  async function pulseColumnsOf(scheduleId: ScheduleId, { agentId, pulse_columns }: ScheduleOf<'routine'>) {
    if (pulse_columns !== null || !deps.isDefault(scheduleId, agentId)) return pulse_columns;
    const ofAgent = (await configs.agent(agentId)).own.pulse_columns ?? [];
    return ofAgent.length > 0 ? ofAgent : null;
  }
  async function rulesOf(scheduleId: ScheduleId, schedule: ScheduleOf<'routine'>) {
    const { agentId } = schedule;
    const [{ own }, household, tools, pulse_columns] = await Promise.all([
      configs.agent(agentId),
      configs.household(),
      allowedTools(deps.tools.all(), callerOf(agentId)),
      pulseColumnsOf(scheduleId, schedule),
    ]);
    return {
      routine: { ...schedule, pulse_columns },
      agent: { ...own, tools: tools.map(({ name }) => name) },
      household: household.own,
    };
  }
  /** The provider runs these tools itself, and not every model has them. */
  async function withoutWeb(agentId: AgentId, run: ResolvedRun): Promise<ResolvedRun> {
    const isWeb = (name: string) => PROVIDER_TOOLS.some((tool) => tool === name);
    if (!run.tools.some(isWeb) || (await deps.readsWeb(agentId, run.planningModel))) return run;
    return { ...run, tools: run.tools.filter((name) => !isWeb(name)) };
  }
  /**
   * Where a routine that was never given a project looks for tasks. The default routine does, and
   * one for which the person chose columns. Others are about something else.
   */
  async function offersOf(
    scheduleId: ScheduleId,
    agentId: AgentId,
    routine: Pick<ScheduleOf<'routine'>, 'pulse_columns'>,
  ): Promise<readonly Offer[]> {
    if (routine.pulse_columns === null && !deps.isDefault(scheduleId, agentId)) return [];
    return (await projects.ofAgent(agentId)).map((project) => ({
      project,
      columns: resolveColumns(project, { columnIds: null }, routine),
      takes: takenColumns(project, { columnIds: null }, routine),
    }));
  }
  const runsOf: Mappings['runsOf'] = async ({ scheduleId, schedule }) => {
    const { agentId } = schedule;
    const [all, rules] = [
      (await table().where('schedule', '=', scheduleId).orderBy('created_at').orderBy('mapping').execute()).filter(
        (row) => row.agent_json === json(agentId),
      ),
      await rulesOf(scheduleId, schedule),
    ];
    if (all.length === 0) {
      // Models for work on projects apply to routines that work on one.
      const alone = resolveRun({ ...rules, agent: { tools: rules.agent.tools }, household: {} }, []);
      const offers = alone.tools.includes('claim_task') ? await offersOf(scheduleId, agentId, rules.routine) : [];
      const isLimited = rules.routine.pulse_columns !== null;
      return [{ ...alone, tools: schedule.tools, projects: null, offers, isLimited, own: null, name: schedule.name }];
    }
    const own = new Map((await projects.ofAgent(agentId)).map((project) => [project.projectId, project]));
    const live = readable(all).flatMap((row): (RunProject & { separate: boolean })[] => {
      const project = own.get(row.project);
      if (row.removed || !row.agreed || !project) return [];
      const mapping = shown(row, schedule);
      const columns = resolveColumns(project, mapping, rules.routine);
      const takes = takenColumns(project, mapping, rules.routine);
      return [{ mapping, project, columns, takes, separate: mapping.separate }];
    });
    if (live.length === 0)
      return [{ ...resolveRun(rules, []), projects: [], offers: [], isLimited: true, own: null, name: schedule.name }];
    return await Promise.all(
      runsOfMappings(live).map(async (about) => {
        const own = about.find(({ separate }) => separate);
        const mapped = about.map(({ mapping }) => mapping);
        return {
          ...(await withoutWeb(agentId, resolveRun(rules, mapped))),
          projects: about,
          offers: about,
          isLimited: true,
          own: own?.mapping.mappingId ?? null,
          name: own ? `${schedule.name}: ${own.project.name}` : schedule.name,
        };
      }),
    );
  };

  async function tidy(): Promise<void> {
    const { numUpdatedRows } = await db
      .updateTable('routine_mappings')
      .set((eb) => ({ removed: true, stamp: null, version: eb('version', '+', 1) }))
      .where('home', '=', home)
      .where('removed', '=', false)
      .where((eb) =>
        eb.or([
          eb(
            'project',
            'in',
            eb.selectFrom('projects').select('project').where('home', '=', home).where('removed', '=', true),
          ),
          eb(
            'schedule',
            'in',
            eb.selectFrom('schedules').select('schedule').where('home', '=', home).where('removed', '=', true),
          ),
        ]),
      )
      .executeTakeFirst();
    if (numUpdatedRows > 0n) deps.onChange(null);
  }
  const unsubscribe = deps.log.subscribe(({ event }) => {
    if (event.kind !== 'record' || !['project', 'schedule'].includes(event.record.type)) return;
    const { value } = event.record;
    if (!('removed' in value) || !value.removed) return;
    void tidy().catch((error: unknown) =>
      deps.logger.error('Mappings of what was deleted could not be removed. The next start removes them.', {
        error,
      }),
    );
  });

  return {
    async list(...at) {
      const project = await assigned(at);
      return project.ok ? done(await mappingsAt(at)) : project;
    },
    async add(at, { routineId, ...fields }) {
      const project = await assigned(at);
      if (!project.ok) return project;
      const [projectId, agentId] = at;
      const routine = await routineOf(routineId);
      if (!routine) return refuse('unknown-schedule', 'There is no such routine. It may have been removed.');
      if (routine.agentId !== agentId) return refuse('misfit', 'It is a routine of another agent.', 'routineId');
      const misfit = refuseFields(project.value, fields);
      if (misfit) return misfit;
      const mappingId = mappingIdOf(projectId, routineId);
      const others = await table()
        .where('schedule', '=', routineId)
        .where('removed', '=', false)
        .where('mapping', '<>', mappingId)
        .execute();
      if (others.length >= MOST_MAPPINGS)
        return refuse('too-many', `The routine works on ${others.length} projects, as many as it can.`);
      const value: Stored = { projectId, routineId, agentId, ...fields, createdAt: now() };
      const own = { ...columnsOf(value), agreed: true, created_at: value.createdAt, stamp: null, removed: false };
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('routine_mappings')
        .values({ home, mapping: mappingId, ...own })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'mapping'])
            .doUpdateSet({ ...own, version: sql<number>`routine_mappings.version + 1` })
            .where('routine_mappings.removed', '=', true),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n)
        return refuse('mapped-already', 'The routine works on this project already.');
      deps.onChange(agentId);
      const mapping = await one(at, mappingId);
      return mapping ? done(mapping) : NO_MAPPING;
    },
    async change(at, mappingId, { version, ...wanted }) {
      const project = await assigned(at);
      if (!project.ok) return project;
      const before = await one(at, mappingId);
      if (!before) return NO_MAPPING;
      const misfit = refuseFields(project.value, wanted);
      if (misfit) return misfit;
      const isChanged = await db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('routine_mappings')
          .selectAll()
          .where('home', '=', home)
          .where('mapping', '=', mappingId)
          .where('removed', '=', false)
          .forUpdate()
          .executeTakeFirst();
        if (!row || (version !== undefined && version !== row.version)) return false;
        const fields = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
        await trx
          .updateTable('routine_mappings')
          .set((eb) => ({
            ...columnsOf({ ...storedOf(row), ...fields }),
            ...{ agreed: true, stamp: null, version: eb('version', '+', 1) },
          }))
          .where('home', '=', home)
          .where('mapping', '=', mappingId)
          .execute();
        return true;
      });
      const current = await one(at, mappingId);
      if (!current) return NO_MAPPING;
      if (!isChanged) return { ok: false, reason: 'changed-elsewhere', current };
      deps.onChange(at[1]);
      return done(current);
    },
    async remove(at, mappingId) {
      const project = await assigned(at);
      if (!project.ok) return project;
      if (!(await one(at, mappingId))) return NO_MAPPING;
      await db
        .updateTable('routine_mappings')
        .set((eb) => ({ removed: true, agreed: true, stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('mapping', '=', mappingId)
        .where('removed', '=', false)
        .execute();
      deps.onChange(at[1]);
      return done(null);
    },
    async takesFrom(project, agentId) {
      const own = (await rows.all(agentId)).flatMap((row) => {
        const { scheduleId, schedule, elsewhere } = row;
        return schedule.kind === 'routine' && isOn(row) && elsewhere === null ? [{ scheduleId, schedule }] : [];
      });
      const mapped = await table()
        .where(
          isOneOf(
            'schedule',
            own.map(({ scheduleId }) => scheduleId),
          ),
        )
        .where('agent_json', '=', json(agentId))
        .execute();
      const columns = new Set<string>();
      let isAnyReady = false;
      for (const { scheduleId, schedule } of own) {
        const all = mapped.filter((row) => row.schedule === scheduleId);
        const [here] = readable(all.filter((row) => row.project === project.projectId && !row.removed && row.agreed));
        if (all.length > 0 && !here) continue;
        const routine = { pulse_columns: await pulseColumnsOf(scheduleId, schedule) };
        isAnyReady ||= !here && routine.pulse_columns === null;
        const mapping = here ? here.stored : { columnIds: null };
        for (const columnId of takenColumns(project, mapping, routine)) columns.add(columnId);
      }
      const isReady = (columnId: string) => givesTasks(project, columnId, undefined);
      const taken = project.columns
        .map(({ columnId }) => columnId)
        .filter((columnId) => columns.has(columnId) || (isAnyReady && isReady(columnId)));
      return isAnyReady && taken.every(isReady) ? null : taken;
    },
    async resolve(...at) {
      const project = await assigned(at);
      if (!project.ok) return project;
      const resolved: Resolved = [];
      for (const { mappingId, routineId, name, waits } of await mappingsAt(at)) {
        const schedule = waits ? null : await routineOf(routineId);
        const runs = schedule ? await runsOf({ scheduleId: routineId, schedule }) : [];
        for (const { projects: about, tools, planningModel, executorModel } of runs) {
          const here = about?.find(({ mapping }) => mapping.mappingId === mappingId);
          if (!here) continue;
          resolved.push({
            ...{ mappingId, routineId, name, planningModel, executorModel },
            columns: [...here.columns],
            tools: [...(tools ?? [])],
            projectIds: (about ?? []).map(({ project: { projectId } }) => projectId),
          });
        }
      }
      return done(resolved);
    },
    runsOf,
    async projectsOf(scheduleIds) {
      const found = await table()
        .where(isOneOf('schedule', [...scheduleIds]))
        .where('removed', '=', false)
        .orderBy('created_at')
        .orderBy('mapping')
        .execute();
      const of = new Map<ScheduleId, ProjectId[]>();
      for (const { schedule, project } of found) of.set(schedule, [...(of.get(schedule) ?? []), project]);
      return of;
    },
    async spentUp({ projects: about }) {
      const spent = await Promise.all((about ?? []).map(({ project }) => projects.spentUp(project.projectId)));
      return spent.includes(null) ? null : (spent[0] ?? null);
    },
    async readyFor({ offers }, agentId) {
      const counts = new Map<ProjectId, ReadonlyMap<string, number>>();
      const names: string[] = [];
      for (const { project, takes } of offers) {
        const ofColumn = new Map<string, number>();
        for (const { taskId, columnId, version } of await projects.readyTasks(agentId, project.projectId, takes)) {
          ofColumn.set(columnId, (ofColumn.get(columnId) ?? 0) + 1);
          names.push(`${taskId} ${version}`);
        }
        counts.set(project.projectId, ofColumn);
      }
      return { counts, key: names.length === 0 ? null : hashOf(names.toSorted()) };
    },
    async shownOf(scheduleId) {
      const found = await table()
        .where('schedule', '=', scheduleId)
        .where('removed', '=', false)
        .orderBy('mapping')
        .execute();
      const all: AskedProjects = [];
      for (const { stored } of readable(found)) {
        const { columnIds, toolOverrides, separate, projectId } = stored;
        const project = await projects.read(projectId);
        all.push({ name: project.ok ? project.value.name : projectId, columnIds, toolOverrides, separate });
      }
      return all;
    },
    async agree(scheduleId) {
      await db
        .updateTable('routine_mappings')
        .set({ agreed: true })
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .execute();
    },
    records: {
      types: ['routine-mapping'],
      hears: ({ what }) => what === 'schedules',
      says: ['schedules'],
      async unannounced() {
        const changed = await table()
          .where('stamp', 'is', null)
          .orderBy('created_at')
          .limit(SCHEDULE_LIMITS.batch)
          .execute();
        return readable(changed).map((row) => ({
          record: { type: 'routine-mapping', id: row.mapping, value: valueOf(row) },
          announced: (at) => stampRow({ db, home, table: 'routine_mappings' }, row.mapping, row.version, at),
        }));
      },
      async statuses(asked) {
        const stamps = await stampsOf(
          { db, home, table: 'routine_mappings' },
          asked.map(({ id }) => id),
        );
        return asked.map(({ id, at }) => statusAt(stamps.get(id), at));
      },
      async restore(offered) {
        const answers: RecordAnswer[] = [];
        for (const { type, id, value, at } of offered) {
          if (type !== 'routine-mapping' || id !== mappingIdOf(value.projectId, value.routineId)) {
            answers.push({ answer: 'refused', why: 'It is no mapping of a routine.' });
            continue;
          }
          const { removed, ...stored } = value;
          const own = { ...columnsOf(stored), removed, stamp: at, created_at: stored.createdAt };
          const { numInsertedOrUpdatedRows = 0n } = await db
            .insertInto('routine_mappings')
            .values({ home, mapping: id, ...own, agreed: false })
            .onConflict((conflict) =>
              conflict
                .columns(['home', 'mapping'])
                .doUpdateSet({
                  ...own,
                  // The same as the person has agreed to here needs no new consent.
                  agreed: sql<boolean>`routine_mappings.agreed and routine_mappings.value_json = excluded.value_json`,
                  version: sql<number>`routine_mappings.version + 1`,
                })
                .where(isBefore('routine_mappings.stamp', at)),
            )
            .executeTakeFirst();
          answers.push({ answer: numInsertedOrUpdatedRows === 0n ? 'kept' : 'taken' });
        }
        await tidy();
        return answers;
      },
    },
    recover: tidy,
    close: unsubscribe,
  };
}
