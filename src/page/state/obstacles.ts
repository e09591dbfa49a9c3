/** What keeps agents from beginning the tasks of a project, as the page shows it. */
import type { ProjectId } from '../../shared/domain/ids.ts';
import type { Obstacles } from '../../shared/domain/obstacles.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';

/** ms between a change and the next request. Each request of a model changes what is spent. */
const ASK_AGAIN_MS = 2_000;

const createObstacles = ({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>) =>
  createQueryFamily((projectId: ProjectId): Query<Obstacles> =>
    createQuery<Obstacles>({
      ...{ changes, device, projectId, askAgainMs: ASK_AGAIN_MS },
      what: ['projects', 'costs', 'schedules', 'approvals', 'calls', 'wakes', 'config', 'team'],
      ask: () => reach((client) => client.obstacles({ projectId })),
    }),
  );

/** By project. */
export const obstaclesOf = onePerPage(createObstacles);
