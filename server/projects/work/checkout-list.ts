/** The checkouts of a project as the page lists them, and the way to delete one. */
import type { ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { Attempt, Checkouts as ShownCheckouts } from '../../../src/shared/protocol/attempts.ts';
import type { Project, ProjectValue, Task } from '../../../src/shared/protocol/projects.ts';
import type { Attempts, Projects } from '../board/index.ts';
import type { Checkouts, Place, Repositories } from '../checkouts/index.ts';
import { done, type Done, isFault, unable } from './outcome.ts';

/** Whether a path or a command names this folder, and not one whose name only begins so. */
export const namesFolder = (text: string, folder: string): boolean =>
  text
    .split(folder)
    .slice(1)
    .some((after) => !/^[\w.-]/.test(after));

export const placeOf = (project: Pick<ProjectValue, 'kind'>, { agentId, folder, branch, base }: Attempt): Place => ({
  kind: project.kind,
  ...{ agentId, folder, branch, base },
});

/** The newest attempt in each checkout of a project. */
export async function placesOf(
  attempts: Pick<Attempts, 'ofProject'>,
  projectId: ProjectId,
): Promise<readonly Attempt[]> {
  const newest = new Map<string, Attempt>();
  for (const attempt of await attempts.ofProject(projectId))
    newest.set(`${attempt.agentId}\n${attempt.folder}`, attempt);
  return [...newest.values()];
}

export interface CheckoutList {
  checkouts(projectId: ProjectId): Promise<Done<ShownCheckouts['checkouts']>>;
  removeCheckout(projectId: ProjectId, taskId: TaskId, lose: boolean): Promise<Done<null>>;
}

export interface CheckoutListDeps {
  readonly projects: Pick<Projects, 'read'>;
  readonly attempts: Pick<Attempts, 'ofProject' | 'openOf'>;
  readonly checkouts: Checkouts;
  readonly repositories: Pick<Repositories, 'of'>;
  readonly taskOf: (
    projectId: ProjectId,
    taskId: TaskId,
  ) => Promise<Done<{ readonly project: Project; readonly task: Task }>>;
  /** Runs work on one task, one step after another. */
  readonly inOrder: <Result>(taskId: TaskId, work: () => Promise<Result>) => Promise<Result>;
}

export function createCheckoutList(deps: CheckoutListDeps): CheckoutList {
  const { projects, attempts, checkouts, repositories, taskOf, inOrder } = deps;

  return {
    async checkouts(projectId) {
      const project = await projects.read(projectId);
      if (!project.ok) return unable('no-project', project.detail);
      const shown: ShownCheckouts['checkouts'] = [];
      const repository = await repositories.of(projectId, project.value).catch((error: unknown) => {
        if (!isFault(error)) throw error;
        return null;
      });
      for (const attempt of await placesOf(attempts, projectId)) {
        const place = placeOf(project.value, attempt);
        if (!(await checkouts.exists(place))) continue;
        const { taskId, agentId, folder, branch } = attempt;
        const inUse = (await attempts.openOf(taskId))?.attempt.agentId === agentId;
        const status =
          inUse || !repository
            ? ({ state: inUse ? 'in-use' : 'unknown', unsaved: [] } as const)
            : await inOrder(taskId, async () => checkouts.status(place, repository, project.value.copy));
        shown.push({
          taskId,
          agentId,
          folder,
          branch,
          bytes: await checkouts.bytesOf(place),
          state: status.state,
          unsaved: [...status.unsaved],
        });
      }
      return done(shown);
    },
    removeCheckout: (projectId, taskId, lose) =>
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const { project } = at.value;
        if (await attempts.openOf(taskId)) return unable('busy', 'An agent works in it now.');
        const repository = lose ? null : await repositories.of(projectId, project);
        for (const attempt of (await placesOf(attempts, projectId)).filter((each) => each.taskId === taskId)) {
          const place = placeOf(project, attempt);
          if (!(await checkouts.exists(place))) continue;
          const status = repository ? await checkouts.status(place, repository, project.copy) : null;
          if (status && status.state !== 'clean')
            return unable(
              'unsaved',
              status.state === 'unknown'
                ? sentence`The relay cannot read what is in it, so it stays.`
                : sentence`Only this checkout has ${status.unsaved.slice(0, 10).map(titled).join(', ')}.`,
            );
          await checkouts.remove(place);
        }
        return done(null);
      }),
  };
}
