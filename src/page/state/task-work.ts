/**
 * The work on tasks as the page shows it: attempts, diffs, requests to merge, checkouts and costs.
 * Loaded with the parts of the page that show them.
 */
import type { ProjectId, TaskId } from '../../shared/domain/ids.ts';
import type { z } from 'zod';
import type {
  Attempt,
  Checkouts,
  Diff,
  FilePatch,
  ForgeKind,
  projectFilesSchema,
  ProjectSpent,
  tokenSchema,
} from '../../shared/protocol/attempts.ts';
import type { NewLineComment } from '../../shared/protocol/line-comments.ts';
import type { Task } from '../../shared/protocol/projects.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { projectsOf } from './projects.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

type ProjectFiles = z.infer<typeof projectFilesSchema>;
type RepositoryToken = z.infer<typeof tokenSchema>;
type TaskKey = Pick<Task, 'projectId' | 'taskId'>;

interface TaskWork {
  /** Newest first. */
  attempts(task: TaskKey): Query<readonly Attempt[]>;
  /** A page of the diff, from the file with this number on. */
  diff(task: TaskKey, from: number): Promise<RelayResult<Diff>>;
  /** The patch of one file of a diff, from this byte on. */
  filePatch(
    task: TaskKey,
    file: { readonly before: string | null; readonly after: string | null; readonly from: number },
  ): Promise<RelayResult<FilePatch>>;
  /** `head`: the commit that the person has looked at. null: it is merged. */
  merge(task: TaskKey, head?: string): Promise<RelayProblem | null>;
  /** `comments`: on lines of the diff. The reason why not; null: it is done. */
  wantChanges(task: TaskKey, note: string, comments: readonly NewLineComment[]): Promise<string | null>;
  /** Takes this merge back, or this revert. The reason why not; null: it is done. */
  revert(task: TaskKey, commit: string): Promise<string | null>;
  closeRequest(task: TaskKey): Promise<string | null>;
  /** Opens the request, or sends it to the forge again. The reason why not; null: it is open. */
  openRequest(task: TaskKey): Promise<string | null>;
  checkouts(projectId: ProjectId): Query<Checkouts['checkouts']>;
  /** `lose`: also what only the checkout has. The reason why not; null: it is deleted. */
  removeCheckout(task: TaskKey, lose: boolean): Promise<string | null>;
  spent(projectId: ProjectId): Query<ProjectSpent['attempts']>;
  /** The project's own files, by path. */
  files(projectId: ProjectId): Query<ProjectFiles>;
  readFile(projectId: ProjectId, path: string): Promise<RelayResult<Blob>>;
  /** The reason why not; null: it is stored. */
  putFile(projectId: ProjectId, path: string, file: Blob): Promise<string | null>;
  removeFile(projectId: ProjectId, path: string): Promise<string | null>;
  token(projectId: ProjectId): Query<RepositoryToken>;
  /** null: deletes the token. The reason why not; null: it is done. */
  setToken(projectId: ProjectId, token: { token: string; forge: ForgeKind | null } | null): Promise<string | null>;
}

function createTaskWork(state: RoostState): TaskWork {
  const { callRelay, changes, device } = state;
  const projects = projectsOf(state);

  const attempts = createQueryFamily((key: string) => {
    const [projectId = '', taskId = ''] = key.split('/') as [ProjectId, TaskId];
    return relayQuery<readonly Attempt[]>({ callRelay, changes, device }, ['projects'], async (client) =>
      mapResult(await client.attempts({ projectId, taskId }), (answer) => answer.attempts.toReversed()),
    );
  });
  const checkouts = createQueryFamily((projectId: ProjectId) =>
    relayQuery<Checkouts['checkouts']>({ callRelay, changes, device }, ['projects'], async (client) =>
      mapResult(await client.checkouts({ projectId }), (answer) => answer.checkouts),
    ),
  );
  const spent = createQueryFamily((projectId: ProjectId) =>
    relayQuery<ProjectSpent['attempts']>({ callRelay, changes, device }, ['projects'], async (client) =>
      mapResult(await client.projectSpent({ projectId }), (answer) => answer.attempts),
    ),
  );

  const files = createQueryFamily((projectId: ProjectId) =>
    relayQuery<ProjectFiles>({ callRelay, changes, device }, ['projects'], (client) =>
      client.projectFiles({ projectId }),
    ),
  );
  const token = createQueryFamily((projectId: ProjectId) =>
    relayQuery<RepositoryToken>({ callRelay, changes, device }, ['projects'], (client) => client.token({ projectId })),
  );
  /** Reads again what a call has changed. The reason why it has not; null: it has. */
  async function after(result: RelayResult<unknown>, changed: Query<unknown>): Promise<string | null> {
    if (!result.ok) return problemText(result.problem);
    await changed.again();
    return null;
  }

  function settled(result: RelayResult<Task>): RelayProblem | null {
    if (!result.ok) return result.problem;
    projects.show(result.value);
    return null;
  }
  const reasonOf = (problem: RelayProblem | null) => (problem === null ? null : problemText(problem));

  return {
    attempts: ({ projectId, taskId }) => attempts(`${projectId}/${taskId}`),
    diff: ({ projectId, taskId }, from) =>
      callRelay((client) => client.taskDiff({ projectId, taskId, ...(from === 0 ? {} : { from }) })),
    filePatch: ({ projectId, taskId }, file) => callRelay((client) => client.filePatch({ projectId, taskId, ...file })),
    merge: async ({ projectId, taskId }, head) =>
      settled(
        await callRelay((client) =>
          client.mergeRequest({ projectId, taskId, body: head === undefined ? {} : { head } }),
        ),
      ),
    async wantChanges({ projectId, taskId }, note, comments) {
      const sent = comments.map(({ commentId, path, side, line, commit, text }) => ({
        ...{ commentId, path, side, line, commit, text },
      }));
      const body = { note, ...(sent.length === 0 ? {} : { comments: sent }) };
      return reasonOf(settled(await callRelay((client) => client.wantChanges({ projectId, taskId, body }))));
    },
    openRequest: async ({ projectId, taskId }) =>
      reasonOf(settled(await callRelay((client) => client.openRequest({ projectId, taskId })))),
    revert: async ({ projectId, taskId }, commit) =>
      reasonOf(settled(await callRelay((client) => client.revertMerge({ projectId, taskId, body: { commit } })))),
    closeRequest: async ({ projectId, taskId }) =>
      reasonOf(settled(await callRelay((client) => client.closeRequest({ projectId, taskId })))),
    checkouts,
    async removeCheckout({ projectId, taskId }, lose) {
      const removed = await callRelay((client) => client.removeCheckout({ projectId, taskId, body: { lose } }));
      if (!removed.ok) return problemText(removed.problem);
      await checkouts(projectId).again();
      return null;
    },
    spent,
    files,
    readFile: (projectId, path) => callRelay((client) => client.filesOfProject.read(projectId, path)),
    async putFile(projectId, path, file) {
      const put = await callRelay((client) => client.filesOfProject.put(projectId, path, file));
      return await after(put, files(projectId));
    },
    async removeFile(projectId, path) {
      const removed = await callRelay((client) => client.removeProjectFile({ projectId, path }));
      return await after(removed, files(projectId));
    },
    token,
    async setToken(projectId, given) {
      const set = await (given === null
        ? callRelay((client) => client.removeToken({ projectId }))
        : callRelay((client) => client.putToken({ projectId, body: given })));
      return await after(set, token(projectId));
    },
  };
}

/** The work on tasks of this page. */
export const taskWorkOf = onePerPage(createTaskWork);
