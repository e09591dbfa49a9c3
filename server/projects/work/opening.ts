/** Opens the request that asks the person to accept the work on a task. */
import { sentence } from '../../../src/shared/domain/names.ts';
import { ATTEMPT_LIMITS, type MergeRequest } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { OpenAttempt, TaskWork } from '../board/index.ts';
import type { Repository } from '../checkouts/index.ts';
import { done, type Done, isFault, NO_WORK, unable, unsaved } from './outcome.ts';
import { startOf, type WorkBase } from './base.ts';
import { secretIn } from './repository-words.ts';

export interface RequestsDeps extends WorkBase {
  readonly missing: TaskWork['missing'];
  /** Takes what was committed in the checkout of an attempt into the relay's repository. */
  readonly collect: (project: Project, open: OpenAttempt) => Promise<void>;
}

export function createOpening(deps: RequestsDeps) {
  const { projects, attempts, repositories, now, logger } = deps;

  /**
   * Opens the request in Roost, then at the forge. What the forge refuses is noted at the request,
   * so the person can merge, or ask for changes, whatever the forge does. `words` null: an earlier
   * request keeps its own, and a new one has the task's.
   */
  async function openRequest(
    by: string,
    project: Project,
    task: Task,
    words: { readonly title: string; readonly body: string } | null,
  ): Promise<Done<MergeRequest>> {
    const last = (await attempts.list(task.taskId)).at(-1);
    if (!last) return NO_WORK;
    const repository = await repositories.of(project.projectId, project);
    const head = await repository.headOf(last.branch);
    const from = await startOf(repository, last, head);
    if (head === null || head === from) return unable('no-work', 'The branch of the task has no change yet.');
    const secret = await secretIn(project, repository, { base: from, head });
    if (secret !== null) return unable('merge-refused', secret);
    const before = task.request?.branch === last.branch ? task.request : null;
    const isOpen = before?.state === 'open';
    const goesOn = before !== null && (isOpen || before.state === 'changes-wanted');
    const { title, body } = words ?? (goesOn ? before : { title: task.title, body: task.description });
    const request: MergeRequest = {
      title: title.slice(0, ATTEMPT_LIMITS.title),
      body: body.slice(0, ATTEMPT_LIMITS.body),
      by: words === null && goesOn ? before.by : by,
      state: 'open',
      branch: last.branch,
      base: from,
      head,
      merged: null,
      mergedOnto: null,
      reverted: null,
      url: task.request?.url ?? null,
      forgeProblem: null,
      openedAt: isOpen ? before.openedAt : now(),
      updatedAt: now(),
    };
    const saved = await projects.update(project.projectId, task.taskId, ({ value }) => ({
      isLimited: true,
      value: {
        ...value,
        request,
        updatedAt: now(),
        history: isOpen
          ? value.history
          : [...value.history, { time: now(), by, what: 'requested' as const, columnId: null, note: '' }],
      },
    }));
    if (!saved.ok) return unsaved(saved);
    const atForge = await publish(project, repository, request);
    if (atForge === null) return done(request);
    const noted = { ...request, ...atForge };
    await projects.update(project.projectId, task.taskId, ({ value }) => ({ value: { ...value, request: noted } }));
    return done(noted);
  }
  /** Pushes the branch, and opens the request at the forge. Null: the project has none. */
  async function publish(
    project: Project,
    repository: Repository,
    { branch, title, body, url }: MergeRequest,
  ): Promise<Pick<MergeRequest, 'url' | 'forgeProblem'> | null> {
    const token = project.kind === 'git' ? await deps.tokens.of(project.projectId) : null;
    if (token?.forge == null) return null;
    const forge = { kind: token.forge, repository: project.repository, token: token.token };
    try {
      const { branch: base } = await repository.base();
      await repository.push(branch);
      return { url: await deps.forges.open(forge, { branch, base, title, body }), forgeProblem: null };
    } catch (error) {
      return { url, forgeProblem: forgeProblemOf(error) };
    }
  }
  function forgeProblemOf(error: unknown): string {
    if (isFault(error) && error instanceof Error) return error.message.slice(0, ATTEMPT_LIMITS.forgeProblem);
    logger.error('A request could not be sent to its forge.', { error });
    return sentence`The relay had an error. The relay’s log says more.`;
  }

  return { openRequest, forgeProblemOf };
}
