/** Attempts that ended lately, over all projects, with their receipts in figures. */
import type { TaskId } from '../../../src/shared/domain/ids.ts';
import { ATTEMPT_LIMITS, type Attempt, type EndedAttempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Attempts, Projects } from '../board/index.ts';

const sum = (numbers: readonly (number | null)[]): number => numbers.reduce<number>((all, one) => all + (one ?? 0), 0);

/** An ended attempt with its receipt as figures. */
function inFigures(
  { attemptId, projectId, taskId, agentId, runId, kind, outcome, startedAt, endedAt, receipt }: Attempt,
  { number, title }: Pick<Task, 'number' | 'title'>,
  of: Project['kind'],
): EndedAttempt {
  return {
    ...{ attemptId, projectId, taskId, agentId, runId, kind, outcome, startedAt, endedAt: endedAt ?? startedAt },
    task: { number, title },
    receipt: receipt && {
      commits: of === 'git' ? receipt.commits.length + receipt.moreCommits : null,
      files: receipt.files.length + receipt.moreFiles,
      added: sum(receipt.files.map(({ added }) => added)),
      removed: sum(receipt.files.map(({ removed }) => removed)),
      checks: {
        passed: receipt.checks.filter(({ code }) => code === 0).length,
        failed: receipt.checks.filter(({ code }) => code !== 0).length,
      },
      ...{ tokens: receipt.tokens, costMicroUsd: receipt.costMicroUsd, estimated: receipt.estimated },
    },
  };
}

/** Those that ended after this time, newest first. Deleted tasks have none. */
export async function endedSince(
  { attempts, projects }: { readonly attempts: Attempts; readonly projects: Projects },
  since: number,
): Promise<{ readonly attempts: readonly EndedAttempt[]; readonly more: boolean }> {
  const kinds = new Map((await projects.list()).map(({ projectId, kind }) => [projectId, kind]));
  const tasks = new Map<TaskId, Task | null>();
  async function taskOf({ projectId, taskId }: Attempt): Promise<Task | null> {
    const known = tasks.get(taskId);
    if (known !== undefined) return known;
    const read = await projects.task(projectId, taskId);
    const task = read.ok ? read.value : null;
    tasks.set(taskId, task);
    return task;
  }
  const found: EndedAttempt[] = [];
  for (const attempt of await attempts.endedSince(since)) {
    const kind = kinds.get(attempt.projectId);
    const task = kind === undefined ? null : await taskOf(attempt);
    if (kind === undefined || !task) continue;
    if (found.length === ATTEMPT_LIMITS.ended) return { attempts: found, more: true };
    found.push(inFigures(attempt, task, kind));
  }
  return { attempts: found, more: false };
}
