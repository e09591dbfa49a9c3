/**
 * The work on tasks as the page shows it: attempts, diffs, requests to merge, checkouts and costs.
 * Loaded with the parts of the page that show them.
 */
import type { ProjectId, TaskId } from '../../shared/domain/ids.ts';
import type { Attempt, Checkouts, Diff, ProjectSpent } from '../../shared/protocol/attempts.ts';
import type { Task } from '../../shared/protocol/projects.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { projectsOf } from './projects.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { mapResult } from './reach.ts';

type TaskKey = Pick<Task, 'projectId' | 'taskId'>;

interface TaskWork {
  /** Newest first. */
  attempts(task: TaskKey): Query<readonly Attempt[]>;
  /** The diff stays as it was read, since it is what the person accepts. */
  diff(task: TaskKey): Promise<RelayResult<Diff>>;
  /** `head`: the commit that the person has looked at. null: it is merged. */
  merge(task: TaskKey, head?: string): Promise<RelayProblem | null>;
  /** The reason why not; null: it is done. */
  wantChanges(task: TaskKey, note: string): Promise<string | null>;
  closeRequest(task: TaskKey): Promise<string | null>;
  checkouts(projectId: ProjectId): Query<Checkouts['checkouts']>;
  /** `lose`: also what only the checkout has. The reason why not; null: it is deleted. */
  removeCheckout(task: TaskKey, lose: boolean): Promise<string | null>;
  spent(projectId: ProjectId): Query<ProjectSpent['attempts']>;
}

function createTaskWork(state: RoostState): TaskWork {
  const { reach, changes, device } = state;
  const deps = { changes, device, what: ['projects'] as const };
  const projects = projectsOf(state);

  const attempts = createQueryFamily((key: string) => {
    const [projectId = '', taskId = ''] = key.split('/') as [ProjectId, TaskId];
    return createQuery<readonly Attempt[]>({
      ...deps,
      ask: async () =>
        mapResult(await reach((client) => client.attempts({ projectId, taskId })), (answer) =>
          answer.attempts.toReversed(),
        ),
    });
  });
  const checkouts = createQueryFamily((projectId: ProjectId) =>
    createQuery<Checkouts['checkouts']>({
      ...deps,
      ask: async () =>
        mapResult(await reach((client) => client.checkouts({ projectId })), (answer) => answer.checkouts),
    }),
  );
  const spent = createQueryFamily((projectId: ProjectId) =>
    createQuery<ProjectSpent['attempts']>({
      ...deps,
      ask: async () =>
        mapResult(await reach((client) => client.projectSpent({ projectId })), (answer) => answer.attempts),
    }),
  );

  function settled(result: RelayResult<Task>): RelayProblem | null {
    if (!result.ok) return result.problem;
    projects.show(result.value);
    return null;
  }
  const reasonOf = (problem: RelayProblem | null) => (problem === null ? null : problemText(problem));

  return {
    attempts: ({ projectId, taskId }) => attempts(`${projectId}/${taskId}`),
    diff: ({ projectId, taskId }) => reach((client) => client.taskDiff({ projectId, taskId })),
    merge: async ({ projectId, taskId }, head) =>
      settled(
        await reach((client) => client.mergeRequest({ projectId, taskId, body: head === undefined ? {} : { head } })),
      ),
    wantChanges: async ({ projectId, taskId }, note) =>
      reasonOf(settled(await reach((client) => client.wantChanges({ projectId, taskId, body: { note } })))),
    closeRequest: async ({ projectId, taskId }) =>
      reasonOf(settled(await reach((client) => client.closeRequest({ projectId, taskId })))),
    checkouts,
    async removeCheckout({ projectId, taskId }, lose) {
      const removed = await reach((client) => client.removeCheckout({ projectId, taskId, body: { lose } }));
      if (!removed.ok) return problemText(removed.problem);
      await checkouts(projectId).again();
      return null;
    },
    spent,
  };
}

/** The work on tasks of this page. */
export const taskWorkOf = onePerPage(createTaskWork);
