/** What keeps agents from beginning the tasks of a project, as the page shows it. */
import type { ProjectId } from '../../shared/domain/ids.ts';
import type { Obstacles } from '../../shared/domain/obstacles.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';

/** ms between a change and the next request. Each request of a model changes what is spent. */
const ASK_AGAIN_MS = 2_000;

const createObstacles = ({ callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>) =>
  createQueryFamily((projectId: ProjectId): Query<Obstacles> =>
    relayQuery<Obstacles>(
      { callRelay, changes, device },
      ['projects', 'costs', 'schedules', 'approvals', 'calls', 'wakes', 'config', 'team'],
      (client) => client.obstacles({ projectId }),
      { projectId, askAgainMs: ASK_AGAIN_MS },
    ),
  );

/** The obstacles of each project. */
export const obstaclesOf = onePerPage(createObstacles);
