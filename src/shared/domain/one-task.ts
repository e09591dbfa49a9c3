/** Projects of which one task at a time is worked on, because they have one checkout. Pure. */
import type { AgentId, TaskId } from './ids.ts';

export interface OneTask {
  readonly kind: 'folder' | 'git';
  /** Whether each task of a repository has a checkout of its own. */
  readonly worktrees: boolean;
}

/** Whether only one task of the project is worked on at a time. */
export const takesOneTask = ({ kind, worktrees }: OneTask): boolean => kind === 'git' && !worktrees;

interface Claimed {
  readonly claim: { readonly agentId: AgentId; readonly since: number };
}

/**
 * The other task that has to end first. Undefined: none has to. `all`: the tasks of its project.
 */
export const taskAtWork = <Task extends { readonly taskId: TaskId; readonly claim: Claimed['claim'] | null }>(
  project: OneTask,
  { taskId }: { readonly taskId: TaskId },
  all: readonly Task[],
): (Task & Claimed) | undefined =>
  takesOneTask(project)
    ? all.find((other): other is Task & Claimed => other.claim !== null && other.taskId !== taskId)
    : undefined;
