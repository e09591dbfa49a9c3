/** Attempts at tasks that ended lately, as the page shows them. */
import type { EndedAttempt } from '../../shared/protocol/attempts.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { mapResult } from './call-relay.ts';

/** ms between a change and the next request. */
const ASK_AGAIN_MS = 2_000;

function createEndedAttempts({ callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>) {
  const family = createQueryFamily((hours: string) =>
    createQuery<readonly EndedAttempt[]>({
      // Each request of an agent at work changes a project.
      ...{ changes, device, what: ['projects'] as const, askAgainMs: ASK_AGAIN_MS },
      ask: async () =>
        mapResult(
          await callRelay((client) => client.endedAttempts({ hours: Number(hours) })),
          ({ attempts }) => attempts,
        ),
    }),
  );
  return (hours: number): Query<readonly EndedAttempt[]> => family(String(hours));
}

/** By hours. Newest first. */
export const endedAttemptsOf = onePerPage(createEndedAttempts);
