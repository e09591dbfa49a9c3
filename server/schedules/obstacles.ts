/**
 * What keeps agents from beginning the tasks of a project. It asks the parts of the relay that
 * refuse a run, so that the board says what would really happen.
 */
import type { AgentId, ProjectId, RunId, TaskId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import type { Obstacle, ObstacleKind, Obstacles as Known } from '../../src/shared/domain/obstacles.ts';
import type { ToolCall } from '../../src/shared/protocol/approvals.ts';
import type { ObstaclesAnswer } from '../../src/shared/protocol/obstacles.ts';
import type { Project, Task } from '../../src/shared/protocol/projects.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Gate } from '../team/gate/contract.ts';
import { problem } from '../http/problem.ts';
import type { HeldClaim, Projects, SpentUp, TaskWork } from '../projects/board/index.ts';
import type { OpenAlone, UsedUp } from './alone.ts';
import type { Mappings } from './mapping-contract.ts';
import { busyText, reasonOf } from './outcomes.ts';

/** What the work on tasks knows. A relay without folders for agents has none. */
export interface WorkStatus {
  ofDay(project: Project): Promise<SpentUp | null>;
  ofTask(project: Project, task: Pick<Task, 'taskId' | 'title'>): Promise<SpentUp | null>;
  ofTasks(project: Project): Promise<ReadonlyMap<TaskId, SpentUp>>;
  lacking: TaskWork['lacking'];
  /** Runs under this claim: the agent’s, and those of its executors. */
  runsOf(taskId: TaskId, token: number): Promise<readonly RunId[]>;
}

interface ObstaclesDeps {
  readonly projects: Pick<Projects, 'read' | 'claims' | 'unprepared'>;
  readonly mappings: Pick<Mappings, 'takesFrom'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly alone: Pick<OpenAlone, 'can'>;
  readonly gate: Pick<Gate, 'wouldBegin'>;
  readonly usedUp: (agentId: AgentId) => Promise<UsedUp | null>;
  readonly work: WorkStatus | null;
  /** Calls that wait for the person. */
  readonly openApprovals: () => Promise<
    readonly (Pick<ToolCall, 'agentId' | 'tool' | 'where' | 'askedAt'> & { runId: RunId | null })[]
  >;
}

const obstacle = (why: ObstacleKind, detail: string, until: number | null = null): Obstacle => ({ why, detail, until });

export interface ObstacleFinder {
  /** Null: there is no such project. */
  of(projectId: ProjectId): Promise<Known | null>;
}

export function createObstacles(deps: ObstaclesDeps): ObstacleFinder {
  const { projects, mappings, host, alone, gate, usedUp, work } = deps;

  /** What is off comes first: it is not over by waiting. */
  async function ofAgent(project: Project, agentId: AgentId): Promise<Obstacle | null> {
    const lacking = (await work?.lacking(agentId, project)) ?? null;
    if (lacking !== null) return obstacle('tools-off', lacking);
    const used = await usedUp(agentId);
    if (used) return obstacle('budget', used.message, used.until);
    const state = host.stateOf(agentId);
    // It is awake: the person can start a task with it now, and it needs no wake.
    if (state === 'idle' || state === 'busy') return null;
    const busy = busyText(state);
    if (busy !== null) return obstacle('agent-busy', busy);
    if (!(await alone.can(agentId)))
      return obstacle('no-copy', sentence`It has no copy on the relay, so no routine can wake it. You can start it.`);
    const verdict = await gate.wouldBegin(agentId);
    if (verdict.outcome === 'granted') return null;
    return obstacle(reasonOf(verdict.check), verdict.detail, verdict.until);
  }

  const isAbout = (
    { agentId, runId, where, askedAt }: Awaited<ReturnType<ObstaclesDeps['openApprovals']>>[number],
    claim: HeldClaim & { readonly since: number },
    runs: readonly RunId[],
  ) =>
    agentId === claim.agentId &&
    (runId === null
      ? // The calls of a client are those of no run.
        where === 'client' && claim.run.startsWith('credential ') && askedAt >= claim.since
      : runs.includes(runId));

  async function ofTasks(project: Project): Promise<Known['tasks']> {
    const [spent, claims, approvals, unprepared] = await Promise.all([
      work?.ofTasks(project) ?? new Map<TaskId, SpentUp>(),
      projects.claims(project.projectId),
      deps.openApprovals(),
      projects.unprepared(project.projectId),
    ]);
    const obstacles = new Map<TaskId, Obstacle>();
    for (const { taskId, why } of unprepared) obstacles.set(taskId, obstacle('unprepared', why));
    for (const [taskId, { detail, until }] of spent) obstacles.set(taskId, obstacle('task-budget', detail, until));
    for (const claim of claims) {
      const own = claim.run.startsWith('run ') ? [claim.run.slice('run '.length)] : [];
      const runs = [...own, ...((await work?.runsOf(claim.taskId, claim.token)) ?? [])];
      const asked = approvals.find((call) => isAbout(call, claim, runs));
      if (asked) obstacles.set(claim.taskId, obstacle('approval', sentence`${asked.tool} waits for your yes.`));
    }
    return [...obstacles].map(([taskId, one]) => ({ taskId, obstacle: one }));
  }

  return {
    async of(projectId) {
      const project = await projects.read(projectId);
      if (!project.ok) return null;
      const [day, tasks, agents] = await Promise.all([
        work?.ofDay(project.value) ?? null,
        ofTasks(project.value),
        Promise.all(
          project.value.agents.map(async (agentId) => ({
            agentId,
            obstacle: await ofAgent(project.value, agentId),
            columnIds: await mappings.takesFrom(project.value, agentId),
          })),
        ),
      ]);
      return { project: day && obstacle('project-budget', day.detail, day.until), agents, tasks };
    },
  };
}

/** The answer of the endpoint. */
export async function readObstacles(obstacles: ObstacleFinder, projectId: ProjectId): Promise<ObstaclesAnswer> {
  const known = await obstacles.of(projectId);
  if (!known) throw problem(404, 'no-project', 'There is no such project.');
  const agents = known.agents.map((one) => ({ ...one, columnIds: one.columnIds && [...one.columnIds] }));
  return { project: known.project, agents, tasks: [...known.tasks] };
}
