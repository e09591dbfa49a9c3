/** Which task each agent has claimed, for places outside of the projects. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Obstacles } from '../../shared/domain/obstacles.ts';
import type { Project, TaskCard } from '../../shared/protocol/projects.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, type Query } from './query.ts';
import { createCallRelay } from './call-relay.ts';

/** A task that an agent has claimed, with the facts that its state depends on. */
export interface ClaimedTask {
  readonly project: Project;
  readonly card: TaskCard;
  /** The tasks of its column. */
  readonly all: readonly TaskCard[];
  readonly obstacles: Obstacles;
}

const claimedTasks = createCallRelay(() => import('./claimed-tasks.ts'));

const createAtWork = ({ callRelay, changes, device }: RoostState): Query<ReadonlyMap<AgentId, ClaimedTask>> =>
  createQuery({
    ...{ changes, device, what: ['projects', 'approvals'] as const },
    ask: () => claimedTasks(({ readClaimedTasks }) => readClaimedTasks(callRelay)),
  });

/** The task that each agent claimed last, if it has one. */
export const atWorkOf = onePerPage(createAtWork);
