/** Reads which task each agent has claimed. Loaded with the schemas of projects. */
import type { AgentId } from '../../shared/domain/ids.ts';
import { cardOf, type Project } from '../../shared/protocol/projects.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { ClaimedTask } from './at-work.ts';
import type { RoostState } from './index.ts';

/** Tasks of one column that are asked for. An agent has few at a time. */
const MOST_TASKS = 200;

/** Columns in which claimed tasks are, and in which there are tasks at all. */
const columnsAtWork = (projects: readonly Project[]) =>
  projects.flatMap((project) =>
    project.columns
      .filter(({ columnId, kind }) => kind === 'in_progress' && (project.counts[columnId] ?? 0) > 0)
      .map(({ columnId }) => ({ project, columnId })),
  );

/** The task that each agent claimed last, if it has one. */
export async function readClaimedTasks(
  callRelay: RoostState['callRelay'],
): Promise<RelayResult<ReadonlyMap<AgentId, ClaimedTask>>> {
  const list = await callRelay((client) => client.projects());
  if (!list.ok) return list;
  const tasks = new Map<AgentId, ClaimedTask & { readonly since: number }>();
  for (const { project, columnId } of columnsAtWork(list.value.projects)) {
    const { projectId } = project;
    const page = await callRelay((client) => client.tasks({ projectId, column: columnId, limit: MOST_TASKS }));
    if (!page.ok) return page;
    const all = page.value.tasks.map(cardOf);
    if (all.every(({ claim }) => claim === null)) continue;
    const obstacles = await callRelay((client) => client.obstacles({ projectId }));
    if (!obstacles.ok) return obstacles;
    for (const card of all) {
      const { claim } = card;
      if (claim === null || (tasks.get(claim.agentId)?.since ?? 0) > claim.since) continue;
      tasks.set(claim.agentId, { project, card, all, obstacles: obstacles.value, since: claim.since });
    }
  }
  return { ok: true, value: tasks };
}
