/** HTTP routes of dreams, for the person. */
import { dreamEndpoints } from '../../src/shared/protocol/endpoints/dreams.ts';
import type { Dream } from '../../src/shared/protocol/dreams.ts';
import type { Directory } from '../team/directory/index.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { agentIdIn } from '../team/directory/index.ts';
import { memoryProblem } from '../team/memory/routes.ts';
import type { DreamOutcome, Dreams } from './index.ts';

function orThrow(outcome: DreamOutcome): Dream {
  if (outcome.ok) return outcome.dream;
  switch (outcome.reason) {
    case 'no-dream':
      throw problem(404, outcome.reason, 'There is no such dream.');
    case 'dream-over':
      throw problem(409, outcome.reason, 'The dream proposes nothing any more, or not yet.');
    case 'dream-waits':
      throw problem(409, outcome.reason, 'A dream of this agent is under way, or waits for you.');
    case 'refused':
      throw memoryProblem(outcome.by);
    default:
      return outcome satisfies never;
  }
}

interface DreamRoutesDeps {
  readonly dreams: Dreams;
  readonly directory: Pick<Directory, 'all'>;
}

export const createDreamRoutes = ({ dreams, directory }: DreamRoutesDeps): readonly Handled[] =>
  answer(dreamEndpoints, {
    async dreams({ agentId }) {
      const found = agentId === null ? await dreams.waiting() : await dreams.of(await agentIdIn(directory, agentId));
      return { dreams: [...found] };
    },
    startDream: async ({ body }) => orThrow(await dreams.start(await agentIdIn(directory, body.agentId))),
    adoptDream: async ({ dreamId }) => orThrow(await dreams.adopt(dreamId)),
    cancelDream: async ({ dreamId }) => orThrow(await dreams.cancel(dreamId)),
    discardDream: async ({ dreamId }) => orThrow(await dreams.discard(dreamId)),
  });
