/**
 * The lifecycle of an agent. It is always derived and never stored.
 *
 * It is pessimistic: an agent that is not known to be awake is asleep. Every view calls these
 * functions and caches no result.
 */
import type { AgentId, RunId, SessionId } from './ids.ts';
import { type Agent, emptySeats, type Roster } from './agent.ts';
import { SEAT_ORDER, type SeatPosition } from './seat.ts';

// Who answers for an agent, and so where its messages go. The relay and the page call the same
// function.

/** An API client that drives an agent with its credential: over MCP, or by its model requests. */
export interface JoinedClient {
  /** The name that the person gave the credential. */
  readonly name: string;
  /** The client has Roost's tools and can read the agent's inbox. */
  readonly readsInbox: boolean;
}

/**
 * `nobody`: messages wait until the agent is woken. `mind`: the mind receives them. `client`: they
 * wait in the agent's inbox until the client reads it.
 */
export type Answering =
  | { readonly by: 'nobody' }
  | { readonly by: 'mind' }
  | ({ readonly by: 'client' } & JoinedClient);

interface Company {
  /** A mind of the relay has the seat, and has answered in this session. */
  readonly mind: boolean;
  /** Null: no client has joined. */
  readonly client: JoinedClient | null;
  /** The agent's sleeping flag is set: calls of its mind and its client are held. */
  readonly paused: boolean;
}

const NOBODY: Answering = { by: 'nobody' };
const MIND: Answering = { by: 'mind' };

/** The mind takes precedence over the client. */
export function whoAnswers({ mind, client, paused }: Company): Answering {
  if (paused) return NOBODY;
  if (mind) return MIND;
  return client ? { by: 'client', ...client } : NOBODY;
}

// The run of something said outside any session. Null: it was said in a session, or its run is
// unknown.

export const aloneIn = ({
  sessionId,
  runId,
}: {
  readonly sessionId: SessionId | null;
  readonly runId?: RunId | undefined;
}): string | null => (sessionId === null ? (runId ?? null) : null);
/** The same as an object field. Empty for something said in a session. */
export function whereAlone(said: Parameters<typeof aloneIn>[0]): { readonly aloneIn?: string } {
  const runId = aloneIn(said);
  return runId === null ? {} : { aloneIn: runId };
}

/** How a session ended. */
export interface SessionEnd {
  /** ms since the epoch */
  readonly endedAt: number;
  /** `crash`, or another reason. */
  readonly reason: string;
}

/**
 * Since when an agent is asleep, in ms since the epoch. Tiles, conversations and the agent itself
 * all use this answer.
 *
 * `lastSaid` is the time of the last message that the agent remembers. `end` is the end of that
 * message's session, or null if unknown. A crash is dated by the relay's next start, so its time is
 * not used. Returns null if nothing is known.
 */
export function asleepFrom(lastSaid: number | null, end: SessionEnd | null): number | null {
  if (end === null || end.reason === 'crash') return lastSaid;
  return Math.max(lastSaid ?? end.endedAt, end.endedAt);
}

/**
 * `driven`: an API client drives the agent, and no mind of the relay does. WAKE brings the mind.
 */
export type Lifecycle = 'empty' | 'hatching' | 'awake' | 'driven' | 'sleeping';

/**
 * The running session, as the relay reports it. Null where the page does not know of a running
 * session.
 */
export interface LiveSession {
  readonly sessionId: SessionId;
  /** Agents that have answered in this session and were not put to sleep since. */
  readonly awake: ReadonlySet<string>;
  /** By agent id: agents driven by a client, with or without a mind. */
  readonly clients: ReadonlyMap<string, JoinedClient>;
  /**
   * Awake or client-driven agents that are set to sleep. They stay in the session with their
   * context, and are silent.
   */
  readonly paused: ReadonlySet<string>;
  /** Ids of agents that were woken and have not answered yet. */
  readonly waking: ReadonlySet<string>;
  /** Seats in which an agent is being born. */
  readonly births: ReadonlySet<number>;
}

export function lifecycleOf(agent: Agent | undefined, position: SeatPosition, live: LiveSession | null): Lifecycle {
  if (!agent) return live?.births.has(position) ? 'hatching' : 'empty';
  if (!live) return 'sleeping';
  const { agentId } = agent;
  if (live.waking.has(agentId) && !live.awake.has(agentId)) return 'hatching';
  const { by } = answeringOf(agentId, live);
  return by === 'mind' ? 'awake' : by === 'client' ? 'driven' : 'sleeping';
}

export const answeringOf = (agentId: AgentId, live: LiveSession | null): Answering =>
  whoAnswers({
    mind: live?.awake.has(agentId) ?? false,
    client: live?.clients.get(agentId) ?? null,
    paused: live?.paused.has(agentId) ?? false,
  });

/** Whether WAKE calls this agent: no mind of the relay answers for it. */
export const canBeWoken = (state: Lifecycle): boolean => state === 'sleeping' || state === 'driven';

/** A call that this page has made and the relay has not confirmed yet. It disables the button. */
export type PendingCall = 'wake' | 'summon' | null;

export type BigButton =
  | { readonly kind: 'none' }
  | { readonly kind: 'busy'; readonly label: 'WAKING…' | 'SUMMONING…' }
  | { readonly kind: 'wake'; readonly label: 'WAKE'; readonly agents: readonly Agent[] }
  | { readonly kind: 'summon'; readonly label: string; readonly seats: readonly SeatPosition[] };

/** The big button: its label, and what it does. */
export function bigButton(roster: Roster, live: LiveSession | null, pending: PendingCall): BigButton {
  const states = SEAT_ORDER.map((position) => lifecycleOf(roster.seats.get(position), position, live));
  if (pending === 'summon' || (live && live.births.size > 0)) return { kind: 'busy', label: 'SUMMONING…' };
  if (pending === 'wake' || states.includes('hatching')) return { kind: 'busy', label: 'WAKING…' };
  const sleeping = SEAT_ORDER.flatMap((position, i) => {
    const agent = roster.seats.get(position);
    return agent && canBeWoken(states[i] ?? 'empty') ? [agent] : [];
  });
  if (sleeping.length > 0) return { kind: 'wake', label: 'WAKE', agents: sleeping };
  const seats = emptySeats(roster);
  if (seats.length === 0) return { kind: 'none' };
  return {
    kind: 'summon',
    label: seats.length === SEAT_ORDER.length ? 'SUMMON' : `SUMMON ${seats.length} MORE`,
    seats,
  };
}
