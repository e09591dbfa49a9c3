/** The receipt of an attempt: what git and the commands that ran say of its work. */
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { ATTEMPT_LIMITS, type Attempt, type Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Draft, OpenAttempt } from '../board/index.ts';
import type { NotWork, Repository } from '../checkouts/index.ts';
import { approvalsIn } from './approvals.ts';
import { placeOf } from './checkout-list.ts';
import { copiesOf, untrackedIn } from './repository-words.ts';
import { startOf, type WorkBase } from './base.ts';

export type Receipts = ReturnType<typeof createReceipts>;

export function createReceipts({ attempts, repositories, checkouts, approvals, nameOf, now }: WorkBase) {
  /** What the relay put into a checkout: copied files, and branches of other tasks. */
  async function notWorkOf(
    project: Project,
    { folder, branch, agentId, base }: Attempt,
    repository: Repository,
  ): Promise<NotWork> {
    const copied = await untrackedIn(repository, base, project);
    const inFolder = takesOneTask(project)
      ? (await attempts.ofProject(project.projectId)).filter((one) => one.agentId === agentId && one.folder === folder)
      : [];
    const branches = new Set(inFolder.map((one) => one.branch));
    branches.delete(branch);
    return { copied, branches: [...branches] };
  }
  /** The receipt of an attempt as it is now. */
  async function receiptOf(
    project: Project,
    { attempt, commands, draft }: Pick<OpenAttempt, 'attempt' | 'commands' | 'draft'>,
  ): Promise<{ readonly head: string | null; readonly receipt: Receipt }> {
    const repository = await repositories.of(project.projectId, project);
    const place = placeOf(project, attempt);
    const said = { by: await nameOf(attempt.agentId), at: now() };
    const notWork = await notWorkOf(project, attempt, repository);
    const { head, uncommitted, elsewhere } = await checkouts.collect(place, repository, said, notWork);
    const to = head ?? attempt.base;
    const from = await startOf(repository, attempt, head);
    const changes = await repository.changes(from, to);
    const commits = await repository.commits(from, to);
    // What an earlier attempt has rewritten is in its own receipt.
    const earlier = (await attempts.list(attempt.taskId)).filter(({ attemptId }) => attemptId !== attempt.attemptId);
    const known = new Set(earlier.flatMap((each) => each.receipt?.rewritten.map(({ ref }) => ref) ?? []));
    const rewritten = (await repository.rewritten(attempt.branch)).filter(({ ref }) => !known.has(ref));
    const receipt: Receipt = {
      commands: commands.slice(-ATTEMPT_LIMITS.commands).map((each) => ({ ...each })),
      moreCommands: Math.max(0, commands.length - ATTEMPT_LIMITS.commands),
      files: [...changes.list],
      moreFiles: changes.more,
      commits: [...commits.list],
      moreCommits: commits.more,
      uncommitted: [...uncommitted],
      elsewhere: [...elsewhere],
      rewritten: rewritten.slice(-ATTEMPT_LIMITS.commits),
      checks: draft !== null && draft.head === head ? [...draft.checks] : [],
      ...{ pushes: [], approvals: await approvalsIn(approvals, attempt) },
      ...(attempt.spent ?? { tokens: null, costMicroUsd: 0, estimated: false }),
    };
    return { head, receipt };
  }

  /** Collects, runs the checks, and remembers what they said of this commit. */
  async function found(project: Project, task: Task): Promise<Receipt | null> {
    const open = await attempts.openOf(task.taskId);
    if (!open) return null;
    const { head, receipt } = await receiptOf(project, open);
    if (project.checks.length === 0 || receipt.checks.length > 0) return receipt;
    const repository = await repositories.of(project.projectId, project);
    const checks = await checkouts.check(placeOf(project, open.attempt), repository, head ?? open.attempt.base, {
      ...{ setup: project.setup, checks: project.checks },
      copies: await copiesOf(project, repository, head ?? open.attempt.base),
    });
    const draft: Draft = { head, checks: checks.map((check) => ({ ...check })) };
    await attempts.found(open.attempt.attemptId, draft);
    return { ...receipt, checks: draft.checks };
  }

  return { notWorkOf, receiptOf, found };
}
