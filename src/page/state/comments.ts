/** Comments on tasks. Loaded with the part of the page that shows them. */
import type { z } from 'zod';
import type { TaskId } from '../../shared/domain/ids.ts';
import type { commentsSchema, Task } from '../../shared/protocol/projects.ts';
import { type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { type Query, relayQuery } from './query.ts';

/** Newest comments that are read. The thread of the task has the earlier ones. */
const SHOWN = 50;

export type CommentPage = z.output<typeof commentsSchema>;

interface Comments {
  of(task: Pick<Task, 'projectId' | 'taskId'>): Query<CommentPage>;
  /** A repeat with the same id writes nothing more. */
  add(task: Pick<Task, 'projectId' | 'taskId'>, text: string, clientId: string): Promise<Done>;
}

function createComments({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): Comments {
  const queries = new Map<TaskId, Query<CommentPage>>();
  function of({ projectId, taskId }: Pick<Task, 'projectId' | 'taskId'>): Query<CommentPage> {
    const query =
      queries.get(taskId) ??
      relayQuery<CommentPage>({ callRelay, changes, device }, ['threads'], (client) =>
        client.comments({ projectId, taskId, limit: SHOWN }),
      );
    queries.set(taskId, query);
    return query;
  }
  return {
    of,
    async add(task, text, clientId) {
      const { projectId, taskId } = task;
      const added = await callRelay((client) => client.addComment({ projectId, taskId, body: { text, clientId } }));
      if (added.ok) await of(task).again();
      return doneOf(added);
    },
  };
}

export const commentsOf = onePerPage(createComments);
