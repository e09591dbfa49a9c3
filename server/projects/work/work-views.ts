/** What page and agents see of the work on a task: attempts, diffs, comments on lines. */
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Repository } from '../checkouts/index.ts';
import { lastOf, type Worked } from './forgetting.ts';
import { endedSince } from './ended.ts';
import { type FromWhere, shownComments, toldComments } from './line-comments.ts';
import { done, isFault, NO_WORK, unable } from './outcome.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';
import { spentBy, toldOf } from './summary.ts';
import type { OpenTaskWork } from './contract.ts';
import { startOf, type WorkBase } from './base.ts';

export function createWorkViews(
  base: WorkBase,
): Pick<OpenTaskWork, 'told' | 'attempts' | 'ended' | 'spent' | 'diff' | 'filePatch'> {
  const { projects, attempts, repositories, taskOf } = base;
  /** The two commits between which the work on a task is shown. */
  async function rangeOf(repository: Repository, { request }: Task, last: Worked): Promise<FromWhere> {
    const asked = request?.branch === last.branch ? request : null;
    if (asked?.state === 'merged') return { base: asked.base, head: asked.head };
    const head = (await repository.headOf(last.branch)) ?? last.base;
    return { base: await startOf(repository, last, head), head };
  }
  /** The person's comments on lines as text for an agent. */
  async function toldOn(project: Project, task: Task, all: readonly Attempt[]): Promise<readonly string[]> {
    const last = all.at(-1);
    if (!last || task.lineComments.length === 0) return [];
    const newest = task.lineComments.slice(-TASK_WORK_SETTINGS.lineCommentsTold);
    const shown = await (async () => {
      try {
        const repository = await repositories.of(project.projectId, project);
        return await shownComments(repository, newest, await rangeOf(repository, task, last));
      } catch (error) {
        if (!isFault(error)) throw error;
        return newest;
      }
    })();
    return toldComments(shown, task.lineComments.length - newest.length);
  }

  return {
    async told(project, task, nameOf) {
      const all = await attempts.list(task.taskId);
      const comments = await toldOn(project, task, all);
      return [toldOf(all, nameOf), ...comments].filter((part) => part !== '').join('\n');
    },
    async attempts(projectId, taskId) {
      const at = await taskOf(projectId, taskId);
      return at.ok ? done(await attempts.list(taskId)) : at;
    },
    ended: (since) => endedSince(base, since),
    async spent(projectId) {
      const project = await projects.read(projectId);
      if (!project.ok) return unable('no-project', project.detail);
      return done(spentBy(await attempts.ofProject(projectId)));
    },
    async diff(projectId, taskId, from) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return at;
      const { project, task } = at.value;
      const last = lastOf(task, await attempts.list(taskId));
      if (!last) return NO_WORK;
      const repository = await repositories.of(projectId, project);
      const { base, head } = await rangeOf(repository, task, last);
      if (!(await repository.has(head))) return unable('no-work', 'The commits of this task are not on this relay.');
      const [{ files, more }, { list }] = await Promise.all([
        repository.diff(base, head, from),
        repository.commits(base, head),
      ]);
      const comments = [...(await shownComments(repository, task.lineComments, { base, head }))];
      return done({ branch: last.branch, base, head, commits: [...list], files, more, comments });
    },
    async filePatch(projectId, taskId, { before, after, from }) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return at;
      const repository = await repositories.of(projectId, at.value.project);
      const patch = await repository.patch(before, after, from);
      return patch ? done(patch) : unable('no-such-file', 'The project has no such content.');
    },
  };
}
