/**
 * What is left of repositories and checkouts when an agent is forgotten or a project is removed.
 */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { type Attempt, ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import type { Task } from '../../../src/shared/protocol/projects.ts';
import type { Attempts, Projects, TaskWork } from '../board/index.ts';
import type { Checkouts, Repositories } from '../checkouts/index.ts';
import { createProjectEnd, type ProjectEndDeps } from './project-end.ts';
import { WorkspaceError } from '../../files/workspaces/index.ts';

/**
 * The folder of a project in an agent's own folder, as an attempt in it names its checkout. Null:
 * the attempt names another place, as one that came from elsewhere may.
 */
export function projectFolderOf(projectId: ProjectId, { folder }: Pick<Attempt, 'folder'>): string | null {
  const [top, own = '', checkout = '', ...deeper] = folder.split('/');
  const isOurs =
    top === 'projects' && own.endsWith(`-${projectId.slice(0, 4)}`) && folder.length <= ATTEMPT_LIMITS.path;
  return isOurs && /^[\w-]+$/.test(own) && /^[\w-]+$/.test(checkout) && deeper.length === 0 ? `${top}/${own}` : null;
}

/** The agent that worked on a branch, and the commit it started from. */
export type Worked = Pick<Attempt, 'agentId' | 'branch' | 'base'>;

/** The newest work on a task. The attempts at an open request may be gone with their agent. */
export function lastOf({ request }: Pick<Task, 'request'>, attempts: readonly Attempt[]): Worked | undefined {
  const asked = request?.state === 'open' ? { agentId: request.by, branch: request.branch, base: request.base } : null;
  return attempts.at(-1) ?? asked ?? undefined;
}

export interface WorkForgetting extends Pick<TaskWork, 'lostWith'> {
  /**
   * Deletes the branches on which only these agents worked. A branch stays where the person was
   * asked to accept it, and what was merged stays in the base branch. Before their attempts go.
   */
  forgetAgents(agentIds: readonly AgentId[]): Promise<void>;
  /**
   * Deletes the relay's repositories of these projects, and their checkouts. Before the attempts.
   */
  forgetProjects(projectIds: readonly ProjectId[]): Promise<void>;
}

interface Deps extends ProjectEndDeps {
  readonly projects: Pick<Projects, 'list' | 'read' | 'task'>;
  readonly attempts: Pick<Attempts, 'ofProject'>;
  readonly checkouts: Pick<Checkouts, 'exists' | 'status' | 'remove'>;
  readonly repositories: Pick<Repositories, 'of' | 'remove' | 'dropBranches'>;
}

export function createWorkForgetting(deps: Deps): WorkForgetting {
  const { projects, attempts, checkouts, repositories } = deps;
  return {
    ...createProjectEnd(deps),
    async forgetAgents(agentIds) {
      for (const { projectId } of await projects.list()) {
        const all = await attempts.ofProject(projectId);
        const own = all.filter(({ agentId }) => agentIds.includes(agentId));
        const branches = new Set<string>();
        for (const { taskId, branch } of own) {
          if (all.some((other) => other.branch === branch && !agentIds.includes(other.agentId))) continue;
          const task = await projects.task(projectId, taskId);
          const isAsked = task.ok && task.value.request?.state === 'open' && task.value.request.branch === branch;
          if (!isAsked) branches.add(branch);
        }
        await repositories.dropBranches(projectId, [...branches]);
      }
    },
    async forgetProjects(projectIds) {
      for (const projectId of projectIds) {
        for (const attempt of await attempts.ofProject(projectId)) {
          const folder = projectFolderOf(projectId, attempt);
          if (folder === null) continue;
          const place = { kind: 'folder', agentId: attempt.agentId, folder, branch: '', base: '' } as const;
          await checkouts.remove(place).catch((error: unknown) => {
            if (!(error instanceof WorkspaceError && error.kind === 'not-found')) throw error;
          });
        }
        await repositories.remove(projectId);
      }
    },
  };
}
