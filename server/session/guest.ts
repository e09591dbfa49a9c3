/** An agent that is here by itself: a client that joined with its credential. It has no mind of the relay's, and fetches its own mail. */
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { TeamMember } from '../../src/protocol/team.ts';
import type { SessionContext } from './context.ts';
import type { Present } from './presence.ts';

export interface GuestDeps {
  readonly context: SessionContext;
  readonly agent: TeamMember & { readonly position: number };
  /** It is not in the session any more. */
  readonly remove: () => void;
}

export function createGuest({ context, agent, remove }: GuestDeps): Present {
  const { sessionId, now, record } = context;
  const { agentId, position } = agent;
  return {
    agentId,
    position,
    phase: () => 'awake',
    name: () => agent.name,
    speaker: () => null,
    begin: () => undefined,
    decline: () => [],
    async leave(reason) {
      remove();
      const asleep: RoostEvent = { kind: 'agent-asleep', time: now(), agentId, position, sessionId, reason };
      await record([asleep]);
    },
    inboxChanged: () => undefined,
  };
}
