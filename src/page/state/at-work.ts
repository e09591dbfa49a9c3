/** Which task each agent has claimed, for places outside of the projects. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Obstacles } from '../../shared/domain/obstacles.ts';
import type { Project, TaskCard } from '../../shared/protocol/projects.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, type Query } from './query.ts';

/** A task that an agent has claimed, with the facts that its state depends on. */
export interface ClaimedTask {
  readonly project: Project;
  readonly card: TaskCard;
  /** The tasks of its column. */
  readonly all: readonly TaskCard[];
  readonly obstacles: Obstacles;
}

/** Tasks of one column that are asked for. An agent has few at a time. */
const MOST_TASKS = 200;

/** Columns in which claimed tasks are, and in which there are tasks at all. */
const columnsAtWork = (projects: readonly Project[]) =>
  projects.flatMap((project) =>
    project.columns
      .filter(({ columnId, kind }) => kind === 'in_progress' && (project.counts[columnId] ?? 0) > 0)
      .map(({ columnId }) => ({ project, columnId })),
  );

function createAtWork({
  reach,
  changes,
  device,
}: Pick<RoostState, 'reach' | 'changes' | 'device'>): Query<ReadonlyMap<AgentId, ClaimedTask>> {
  async function ask(): Promise<RelayResult<ReadonlyMap<AgentId, ClaimedTask>>> {
    const list = await reach((client) => client.projects());
    if (!list.ok) return list;
    const columns = columnsAtWork(list.value.projects);
    if (columns.length === 0) return { ok: true, value: new Map() };
    // With the schemas of projects, which the shell does not have.
    const { cardOf } = await import('../../shared/protocol/projects.ts');
    const held = new Map<AgentId, ClaimedTask & { readonly since: number }>();
    for (const { project, columnId } of columns) {
      const { projectId } = project;
      const page = await reach((client) => client.tasks({ projectId, column: columnId, limit: MOST_TASKS }));
      if (!page.ok) return page;
      const all = page.value.tasks.map(cardOf);
      if (all.every(({ claim }) => claim === null)) continue;
      const obstacles = await reach((client) => client.obstacles({ projectId }));
      if (!obstacles.ok) return obstacles;
      for (const card of all) {
        const { claim } = card;
        if (claim === null || (held.get(claim.agentId)?.since ?? 0) > claim.since) continue;
        held.set(claim.agentId, { project, card, all, obstacles: obstacles.value, since: claim.since });
      }
    }
    return { ok: true, value: held };
  }
  return createQuery({ changes, device, what: ['projects', 'approvals'], ask });
}

/** By agent: the task that it claimed last, if it has one. */
export const atWorkOf = onePerPage(createAtWork);
