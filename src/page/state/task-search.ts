/** The search in descriptions, criteria and comments of tasks, which cards do not have. */
import type { ProjectId } from '../../shared/domain/ids.ts';
import type { FoundTasks } from '../../shared/protocol/projects.ts';
import type { RoostState } from './index.ts';
import { createQuery, type Query } from './query.ts';

/** ms without a key after which the relay is asked. */
export const SEARCH_AFTER_MS = 300;

/** One search. It is made again when a task changes. `text` empty: it asks nobody. */
export const createTaskSearch = (
  { callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>,
  projectId: ProjectId,
  text: string,
): Query<FoundTasks> =>
  createQuery<FoundTasks>({
    ...{ changes, device, projectId, askAgainMs: SEARCH_AFTER_MS },
    what: text === '' ? [] : ['projects', 'threads'],
    ask: () =>
      text === ''
        ? Promise.resolve({ ok: true, value: { taskIds: [], more: false } })
        : callRelay((client) => client.searchTasks({ projectId, q: text })),
  });
