/** What an agent can read of itself. */
import type { Resource } from '@modelcontextprotocol/server';
import { shownName } from '../../../src/shared/domain/names.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Gate, Inbox, Pauses } from '../../contracts/index.ts';
import type { Threads } from '../../team/threads/index.ts';
import { howToLive } from './sayings.ts';

export interface ResourceDeps {
  readonly pauses: Pick<Pauses, 'isPaused'>;
  readonly inbox: Pick<Inbox, 'unread'>;
  readonly gate: Pick<Gate, 'stats'>;
  readonly threads: Pick<Threads, 'list'>;
  /** The running session, or null. */
  readonly sessionId: () => string | null;
}

export interface AgentResource extends Resource {
  readonly mimeType: string;
  read(agent: TeamMember): Promise<string>;
}

/** Open threads that `roost://agent/threads` carries at most; tools read the others. */
const MOST_THREADS = 50;

/**
 * JSON in which nothing is taken for the end of a line: what others wrote stands within its
 * strings.
 */
const json = (value: unknown) =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * The agent's state, as `roost://agent/state` carries it. Seats count from 1; times are in ms since
 * the epoch.
 */
async function stateOf({ pauses, inbox, gate, sessionId }: ResourceDeps, { agentId, name, position }: TeamMember) {
  const [unread, wakes] = await Promise.all([inbox.unread(), gate.stats(agentId)]);
  return {
    agentId,
    name,
    seat: position === null ? null : seatNumber(position),
    sessionId: sessionId(),
    sleeping: pauses.isPaused(agentId),
    unread: unread.get(agentId) ?? 0,
    wakes,
  };
}

export function createResources(deps: ResourceDeps): readonly AgentResource[] {
  return [
    {
      uri: 'roost://agent/state',
      name: 'state',
      title: 'Who I am',
      description:
        'My name and seat, the running session, whether I am set to sleep, how many messages wait for me, and how often I may still be woken today.',
      mimeType: 'application/json',
      read: async (agent) => json(await stateOf(deps, agent)),
    },
    {
      uri: 'roost://agent/threads',
      name: 'threads',
      title: 'My threads',
      description: 'The open threads that I am in, the newest first: who is in them, and how much was said when.',
      mimeType: 'application/json',
      read: async ({ agentId }) =>
        json(await deps.threads.list(agentId, { before: null, limit: MOST_THREADS, closedToo: false })),
    },
    {
      uri: 'roost://agent/instructions',
      name: 'instructions',
      title: 'How to live in a Roost',
      description: 'How agents of a Roost reach each other, and what sleeping and limits mean for them.',
      mimeType: 'text/markdown',
      read: (agent) => Promise.resolve(howToLive(shownName(agent.name, 'agent'))),
    },
  ];
}
