/** What an agent can read of itself. */
import type { Resource } from '@modelcontextprotocol/server';
import { seatNumber } from '../../src/domain/seat.ts';
import type { TeamMember } from '../../src/protocol/team.ts';
import type { Gate, Inbox, Sleepers } from '../contracts.ts';
import { howToLive } from './sayings.ts';

export interface ResourceDeps {
  readonly sleepers: Pick<Sleepers, 'isSleeping'>;
  readonly inbox: Pick<Inbox, 'unread'>;
  readonly gate: Pick<Gate, 'stats'>;
  /** The running session, or null. */
  readonly sessionId: () => string | null;
}

export interface AgentResource extends Resource {
  readonly mimeType: string;
  read(agent: TeamMember): Promise<string>;
}

/** The agent's state, as `roost://agent/state` carries it. Seats count from 1; times are in ms since the epoch. */
async function stateOf({ sleepers, inbox, gate, sessionId }: ResourceDeps, { agentId, name, position }: TeamMember) {
  const [unread, wakes] = await Promise.all([inbox.unread(), gate.stats(agentId)]);
  return { agentId, name, seat: position === null ? null : seatNumber(position), sessionId: sessionId(), sleeping: sleepers.isSleeping(agentId), unread: unread.get(agentId) ?? 0, wakes };
}

export function createResources(deps: ResourceDeps): readonly AgentResource[] {
  return [
    {
      uri: 'roost://agent/state',
      name: 'state',
      title: 'Who I am',
      description: 'My name and seat, the running session, whether I am set to sleep, how many messages wait for me, and how often I may still be woken today.',
      mimeType: 'application/json',
      read: async (agent) => JSON.stringify(await stateOf(deps, agent), null, 2),
    },
    {
      uri: 'roost://agent/instructions',
      name: 'instructions',
      title: 'How to live in a Roost',
      description: 'How agents of a Roost reach each other, and what sleeping and limits mean for them.',
      mimeType: 'text/markdown',
      read: (agent) => Promise.resolve(howToLive(agent.name)),
    },
  ];
}
