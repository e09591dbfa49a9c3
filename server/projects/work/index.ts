/**
 * Work on tasks: the checkout of a claim, the attempt with its receipt, the request that asks the
 * person to accept the work, and the merge.
 *
 * `requests.ts` has the requests, `executor.ts` runs executors, `tools.ts` has the tools of agents,
 * `routes.ts` answers the page. Claims and columns are in server/projects/board, files and git in
 * server/projects/checkouts.
 *
 * Main types: `OpenTaskWork`.
 *
 * Invariants:
 * - An attempt begins with a claim and ends with it. Its receipt comes from git and from commands
 *   that ran, never from what an agent says.
 * - A task has one branch. Everybody who works on it goes on there.
 * - Nothing is merged that the person has not seen: a merge names the commit.
 *
 * It does not know what a column means beyond its kind, or how a sandbox works.
 */
import { sentence } from '../../../src/shared/domain/names.ts';
import { PROJECT_LIMITS, type Project, type Task } from '../../../src/shared/protocol/projects.ts';
import { createWorkForgetting } from './forgetting.ts';
import { createFind } from './find.ts';
import { createCheckoutList } from './checkout-list.ts';
import { createCommitLeft } from './commit-left.ts';
import { isFault } from './outcome.ts';
import { createRequests } from './requests.ts';
import { createProjectFiles } from './project-files.ts';
import { createAttemptCommands } from './attempt-commands.ts';
import { createAttemptEnds } from './attempt-ends.ts';
import { createWorkBase, type TaskWorkDeps } from './base.ts';
import type { OpenTaskWork } from './contract.ts';
import { createFinish } from './finish.ts';
import { createPrepare } from './prepare.ts';
import { createReceipts } from './receipts.ts';
import { createWorkViews } from './work-views.ts';

export type { OpenTaskWork } from './contract.ts';

export function createTaskWork(deps: TaskWorkDeps): OpenTaskWork {
  const base = createWorkBase(deps);
  const { projects, attempts, checkouts, repositories, inOrder, nameOf, taskOf, block, now, logger } = base;
  const reviewListeners: ((project: Project, task: Task) => void)[] = [];
  const receipts = createReceipts(base);
  const { settle, recover } = createAttemptEnds(base, receipts);
  const prepare = createPrepare(base, receipts, settle);
  const commit = createCommitLeft({ ...base, notWorkOf: receipts.notWorkOf });
  const finishing = createFinish(base, receipts.found, commit);
  const requests = createRequests({
    ...base,
    missing: finishing.missing,
    async collect(project, open) {
      await receipts.receiptOf(project, open);
    },
  });

  const work: OpenTaskWork = {
    find: createFind(deps),
    ...requests,
    ...finishing,
    ...createWorkViews(base),
    ...createAttemptCommands(base),
    ...createProjectFiles({ projects, repositories, now }),
    ...createWorkForgetting({ projects, attempts, checkouts, repositories, nameOf }),
    ...createCheckoutList({ projects, attempts, checkouts, repositories, taskOf, inOrder }),
    commit,
    found: receipts.found,
    recover,
    close: base.close,
    examine: repositories.examine,
    spentToday: (project) => deps.limits.ofDay(project),
    lacking: (agentId, project) => deps.means.lacking(agentId, project),
    async begin(holder, project, task, caller) {
      try {
        const place = await inOrder(task.taskId, () => prepare(holder, project, task, caller));
        if (place.ok && task.unprepared !== null)
          await projects.update(project.projectId, task.taskId, ({ value }) => ({
            value: { ...value, unprepared: null },
          }));
        return place;
      } catch (error) {
        if (isFault(error)) return { ok: false, text: error instanceof Error ? error.message : String(error) };
        // The claim ends, too. Otherwise the run's end would free the task, and the next run pay
        // again.
        logger.error('The place of work of a task could not be prepared.', { error });
        const isFull =
          error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
        return {
          ok: false,
          text: isFull
            ? sentence`The disk of the relay’s machine is full.`
            : sentence`The relay had an error. The relay’s log says more.`,
        };
      }
    },
    async moved(project, task) {
      const problem = await requests.moved(project, task);
      for (const listener of reviewListeners) listener(project, task);
      return problem;
    },
    onReview: (listener) => void reviewListeners.push(listener),
    async stop(kind, { projectId, taskId, agentId }, why) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return;
      if (kind === 'task') await block(at.value.project, at.value.task, why);
      else await projects.release(agentId, projectId, taskId, why.slice(0, PROJECT_LIMITS.note));
      await deps.tellPerson(agentId, why);
    },
  };

  projects.connect(work);
  return work;
}
