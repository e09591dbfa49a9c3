/** What the parts of task work share: the rest of the relay, and steps that several take. */
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { createQueues } from '../../../src/shared/domain/platform/queue.ts';
import { columnOfKind } from '../../../src/shared/domain/projects.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Attempts, type Projects, withHistory } from '../board/index.ts';
import type { Checkouts, Repositories, Repository, Tokens } from '../checkouts/index.ts';
import type { Forges } from './forge.ts';
import type { FindDeps } from './find.ts';
import type { WorkLimits } from './limits.ts';
import type { AskedSince } from './approvals.ts';
import type { Means } from './means.ts';
import { done, type Done, unable } from './outcome.ts';
export interface TaskWorkDeps extends Pick<FindDeps, 'workspaces'> {
  readonly projects: Projects;
  readonly attempts: Attempts;
  readonly checkouts: Checkouts;
  readonly repositories: Repositories;
  readonly tokens: Tokens;
  readonly forges: Forges;
  readonly limits: WorkLimits;
  readonly means: Means;
  readonly directory: Pick<Directory, 'all'>;
  readonly approvals: { askedSince: AskedSince };
  /** Ends the commands of an agent whose run is over. */
  readonly endCommandsOf: (agentId: AgentId) => Promise<void>;
  /** Tells the person that a limit of a project stopped a task. */
  readonly tellPerson: (agentId: AgentId, text: string) => Promise<void>;
  /** Leaves a message of the person for the agent. */
  readonly tellAgent: (agentId: AgentId, text: string) => Promise<void>;
  /** The agent works on this attempt now. What it uses counts to it. */
  readonly onTurn: (attemptId: string) => void;
  /** No other process can have this store open. */
  readonly alone: boolean;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** Where the changes of a task begin: what it took over from the base branch is not its own. */
export async function startOf(
  repository: Repository,
  { base }: Pick<Attempt, 'base'>,
  head: string | null,
): Promise<string> {
  const known = await repository.knownBase();
  if (known === null || head === null) return base;
  const fork = await repository.forkOf(known, head);
  return fork === head ? base : fork;
}

export type WorkBase = ReturnType<typeof createWorkBase>;

export function createWorkBase(deps: TaskWorkDeps) {
  const { projects, directory, now } = deps;
  /** Work on one task, one step after another. */
  const inOrder = createQueues<string>();
  const running = new Set<Promise<void>>();

  const nameOf = async (agentId: AgentId) =>
    (await directory.all()).find((member) => member.agentId === agentId)?.name ?? agentId;

  async function taskOf(projectId: ProjectId, taskId: TaskId): Promise<Done<{ project: Project; task: Task }>> {
    const [project, task] = [await projects.read(projectId), await projects.task(projectId, taskId)];
    if (!project.ok) return unable('no-project', project.detail);
    return task.ok ? done({ project: project.value, task: task.value }) : unable('no-task', task.detail);
  }

  /** Writes a note of the relay into the history of a task. */
  async function noteOn(
    { projectId }: Pick<Project, 'projectId'>,
    { taskId }: Pick<Task, 'taskId'>,
    note: string,
    what: 'edited' | 'setup' = 'edited',
  ): Promise<void> {
    const entry = { time: now(), by: 'relay', what, columnId: null, note };
    await projects.update(projectId, taskId, ({ value }) => ({ value: withHistory(value, entry) }));
  }
  /** Moves a task to the blocked column, and says why. Its claim ends. */
  async function block(project: Project, task: Pick<Task, 'taskId'>, why: string): Promise<void> {
    const column = columnOfKind(project, 'blocked') ?? columnOfKind(project, 'backlog');
    await projects.update(project.projectId, task.taskId, ({ value }) => ({
      value: {
        ...value,
        columnId: column?.columnId ?? value.columnId,
        history: [
          ...value.history,
          { time: now(), by: 'relay', what: 'moved' as const, columnId: column?.columnId ?? null, note: why },
        ],
        updatedAt: now(),
      },
      endsClaim: true,
    }));
  }

  return {
    ...deps,
    inOrder,
    nameOf,
    taskOf,
    noteOn,
    block,
    /** Work that `close` waits for. */
    track(work: Promise<void>): void {
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    /** Resolves when the tracked work is over. */
    async close(): Promise<void> {
      await Promise.all(running);
    },
  };
}
