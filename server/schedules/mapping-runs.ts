/** The runs of a routine: their projects, tools and models, and the tasks that they may take. */
import type { AgentId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { givesTasks } from '../../src/shared/domain/projects.ts';
import { titled } from '../../src/shared/domain/quoting.ts';
import {
  resolveColumns,
  resolveRun,
  type ResolvedRun,
  runsOfMappings,
  takenColumns,
} from '../../src/shared/domain/routine-mappings.ts';
import { PROVIDER_TOOLS } from '../../src/shared/domain/toolsets.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { allowedTools } from '../agents/runs/team-tools.ts';
import type { RunScope } from '../agents/runs/run-scopes.ts';
import type { Caller } from '../tools/index.ts';
import { isOneOf } from '../store/dialect.ts';
import { isOn, json } from './rows.ts';
import type {
  Mappings,
  MappingsDeps,
  Offer,
  RunProject,
  RoutineRun,
  Resolved,
  ReadyTasks,
} from './mapping-contract.ts';
import { type MappingRows, done, hashOf } from './mapping-rows.ts';

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

const NO_SIGNAL = new AbortController().signal;
/** The agent as it calls tools in a run of its own. */
const callerOf = (agentId: AgentId): Caller => ({
  ...{ agentId, sessionId: null, run: '', kind: 'run', signal: NO_SIGNAL },
});

export function createMappingRuns(
  deps: MappingsDeps,
  { table, readable, assigned, routineOf, shown, mappingsAt }: MappingRows,
): Pick<Mappings, 'takesFrom' | 'resolve' | 'runsOf' | 'spentUp' | 'readyFor'> {
  const { rows, projects, configs } = deps;
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

  return {
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
  };
}
