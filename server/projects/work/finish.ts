/** Whether the work on a task is done: what is missing before it may move on. */
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { DoneNeeds, Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, ProjectValue, Task, TaskValue } from '../../../src/shared/protocol/projects.ts';
import { unmetCriteria } from '../board/index.ts';
import { refusedIn } from './approvals.ts';
import { isFault } from './outcome.ts';
import { secretIn } from './repository-words.ts';
import { commitText, notReady, uncommittedIn } from './summary.ts';
import type { OpenTaskWork } from './contract.ts';
import { startOf, type WorkBase } from './base.ts';
import type { Receipts } from './receipts.ts';

/** What of a receipt and a task does not hold, as the project asks for it. */
function lacks(
  project: Pick<ProjectValue, 'checks'>,
  task: Pick<TaskValue, 'criteria'>,
  receipt: Receipt | null,
): (keyof DoneNeeds)[] {
  const hasChange = receipt !== null && receipt.files.length + receipt.commits.length > 0;
  const passed = receipt !== null && receipt.checks.length > 0 && receipt.checks.every(({ code }) => code === 0);
  return [
    ...(hasChange ? [] : (['change'] as const)),
    ...(project.checks.length === 0 || passed ? [] : (['checks'] as const)),
    ...unmetCriteria(task),
  ];
}

export function createFinish(
  { attempts, repositories, inOrder, noteOn }: WorkBase,
  found: Receipts['found'],
  commit: OpenTaskWork['commit'],
): Pick<OpenTaskWork, 'finish' | 'missing'> {
  /** As `secretIn`, for the attempt that is under way. */
  async function secretOf(project: Project, { taskId }: Task, { commits }: Receipt): Promise<string | null> {
    const [open, head] = [await attempts.openOf(taskId), commits.at(-1)?.commit ?? null];
    if (!open || head === null || project.copy.length === 0) return null;
    const repository = await repositories.of(project.projectId, project);
    return await secretIn(project, repository, { base: await startOf(repository, open.attempt, head), head });
  }

  return {
    async finish(project, task, caller) {
      try {
        return await inOrder(task.taskId, async () => {
          const left = await commit(project, task, caller);
          if (left !== null) return left;
          const receipt = await found(project, task);
          if (!receipt) return null;
          const missing = lacks(project, task, receipt).filter((need) => project.doneNeeds[need]);
          const failed = receipt.checks.filter(({ code }) => code !== 0);
          const refused = refusedIn(receipt);
          const secret = await secretOf(project, task, receipt);
          const said = [
            ...(refused === null
              ? []
              : [`${refused} Move the task to blocked, and say what is done and what is left.`]),
            ...(receipt.uncommitted.length > 0 ? [uncommittedIn(project, receipt)] : []),
            ...(receipt.elsewhere.length > 0
              ? [
                  `These commits are not on the task’s branch: ${receipt.elsewhere.map(commitText).join(', ')}. Put them there by git merge or git cherry-pick, or delete the branch or the stash that has them.`,
                ]
              : []),
            ...(secret === null ? [] : [secret]),
            ...(missing.includes('change') ? ['Nothing was changed yet.'] : []),
            ...(missing.includes('checks')
              ? failed.map(({ command, code, output }) =>
                  writeSaid({ head: `The check ${titled(command)} ended with ${code ?? 'no status'}:`, text: output }),
                )
              : []),
            ...(missing.includes('criteria')
              ? ['Not every criterion is met. meet_criterion says that one is, and what shows it.']
              : []),
          ];
          if (said.length === 0) return null;
          const note = notReady(project, receipt, { missing, refused, secret });
          if (note !== null && task.history.at(-1)?.note !== note) await noteOn(project, task, note);
          return said.join('\n');
        });
      } catch (error) {
        if (!isFault(error)) throw error;
        return error instanceof Error ? error.message : String(error);
      }
    },
    async missing(project, taskId, task) {
      const all = await attempts.list(taskId);
      return all.length === 0
        ? unmetCriteria(task)
        : lacks(project, task, all.findLast(({ receipt }) => receipt !== null)?.receipt ?? null);
    },
  };
}
