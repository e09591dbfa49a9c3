/** Commits of the relay for agents that may run no git themselves. */
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Caller } from '../../tools/index.ts';
import type { Attempts } from '../board/index.ts';
import {
  CHECKOUT_LIMITS,
  type Checkouts,
  type NotWork,
  type Repositories,
  type Repository,
} from '../checkouts/index.ts';
import { placeOf } from './checkout-list.ts';
import type { Means } from './means.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

const RULES = `It commits files of at most ${CHECKOUT_LIMITS.committedBytes / 1_000_000} MB, no content of files that it copied into the checkout, and no repository within this one. Change or delete these, or name them in .gitignore.`;

export interface CommitLeftDeps {
  readonly attempts: Pick<Attempts, 'openOf'>;
  readonly checkouts: Pick<Checkouts, 'keep'>;
  readonly repositories: Pick<Repositories, 'of'>;
  readonly means: Pick<Means, 'of'>;
  readonly notWorkOf: (project: Project, attempt: Attempt, repository: Repository) => Promise<NotWork>;
}

/** See `OpenTaskWork.commit`. The message is the task's title, and the author is the agent. */
export function createCommitLeft({ attempts, checkouts, repositories, means, notWorkOf }: CommitLeftDeps) {
  return async (project: Project, { taskId, title }: Task, caller: Caller): Promise<string | null> => {
    const open = await attempts.openOf(taskId);
    if (project.kind !== 'git' || !open || (await means.of(caller)).commits) return null;
    const repository = await repositories.of(project.projectId, project);
    const { copied } = await notWorkOf(project, open.attempt, repository);
    const forAgent = { message: title, copiedIds: await repository.copiedIds() };
    const kept = await checkouts.keep(placeOf(project, open.attempt), copied, forAgent);
    if (kept.ok) return null;
    const named = kept.left.slice(0, TASK_WORK_SETTINGS.leftNamed).map(titled).join(', ');
    return `The relay could not commit ${named}. ${RULES}`;
  };
}
