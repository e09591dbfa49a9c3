/** Dreams of agents, as the page shows and answers them. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Dream } from '../../shared/protocol/dreams.ts';
import type { RelayProblem } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

export interface Dreams {
  /** The newest dreams of this agent. */
  of(agentId: AgentId): Query<readonly Dream[]>;
  /** Dreams of all agents that wait for the person. */
  readonly waiting: Query<readonly Dream[]>;
  /** A notice reports a refusal. */
  start(agentId: AgentId): Promise<void>;
  adopt(dream: Dream): Promise<void>;
  discard(dream: Dream): Promise<void>;
  cancel(dream: Dream): Promise<void>;
}

function createDreams({ callRelay, changes, device, notices }: RoostState): Dreams {
  const what = ['memories'] as const;
  const of = createQueryFamily((agentId: AgentId) =>
    relayQuery<readonly Dream[]>(
      { callRelay, changes, device },
      what,
      async (client) => mapResult(await client.dreams({ agentId }), ({ dreams }) => dreams),
      { agentId },
    ),
  );
  const waiting = relayQuery<readonly Dream[]>({ callRelay, changes, device }, what, async (client) =>
    mapResult(await client.dreams({}), ({ dreams }) => dreams),
  );
  async function answered(
    agentId: AgentId,
    call: Promise<{ readonly ok: true } | { readonly ok: false; readonly problem: RelayProblem }>,
  ): Promise<void> {
    const result = await call;
    await Promise.all([of(agentId).again(), waiting.again()]);
    if (!result.ok) notices.refused(result.problem);
  }
  return {
    of,
    waiting,
    start: (agentId) =>
      answered(
        agentId,
        callRelay((client) => client.startDream({ body: { agentId } })),
      ),
    adopt: ({ agentId, dreamId }) =>
      answered(
        agentId,
        callRelay((client) => client.adoptDream({ dreamId })),
      ),
    cancel: ({ agentId, dreamId }) =>
      answered(
        agentId,
        callRelay((client) => client.cancelDream({ dreamId })),
      ),
    discard: ({ agentId, dreamId }) =>
      answered(
        agentId,
        callRelay((client) => client.discardDream({ dreamId })),
      ),
  };
}

/** One instance per page. */
export const dreamsOf = onePerPage(createDreams);
