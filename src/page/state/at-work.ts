/** Which task each agent works on, for places outside of the projects. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Project, Task } from '../../shared/protocol/projects.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, type Query } from './query.ts';

export type TaskAtWork = Pick<Task, 'projectId' | 'taskId' | 'number' | 'title'>;

/** Tasks of one column that are asked for. An agent has few at a time. */
const MOST_TASKS = 200;

/** Columns in which claimed tasks are, and in which there are tasks at all. */
const columnsAtWork = (projects: readonly Project[]) =>
  projects.flatMap(({ projectId, columns, counts }) =>
    columns
      .filter(({ columnId, kind }) => kind === 'in_progress' && (counts[columnId] ?? 0) > 0)
      .map(({ columnId }) => ({ projectId, column: columnId })),
  );

function createAtWork({
  reach,
  changes,
  device,
}: Pick<RoostState, 'reach' | 'changes' | 'device'>): Query<ReadonlyMap<AgentId, TaskAtWork>> {
  async function ask(): Promise<RelayResult<ReadonlyMap<AgentId, TaskAtWork>>> {
    const list = await reach((client) => client.projects());
    if (!list.ok) return list;
    const held = new Map<AgentId, TaskAtWork & { readonly since: number }>();
    for (const column of columnsAtWork(list.value.projects)) {
      const page = await reach((client) => client.tasks({ ...column, limit: MOST_TASKS }));
      if (!page.ok) return page;
      for (const { projectId, taskId, number, title, claim } of page.value.tasks) {
        // An agent whose claim rests has stopped working on it.
        if (claim === null || claim.rests !== undefined || (held.get(claim.agentId)?.since ?? 0) > claim.since)
          continue;
        held.set(claim.agentId, { projectId, taskId, number, title, since: claim.since });
      }
    }
    return { ok: true, value: held };
  }
  return createQuery({ changes, device, what: ['projects'], ask });
}

/** By agent: the task that it claimed last, if it has one. */
export const atWorkOf = onePerPage(createAtWork);
