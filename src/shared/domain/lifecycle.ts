/**
 * The lifecycle, derived and never stored. Pessimistic: whoever is not known to be awake sleeps.
 * Every view asks these functions; none of them keeps an answer.
 */
import type { AgentId, RunId, SessionId } from './ids.ts';
import { type Agent, emptySeats, type Roster } from './agent.ts';
import { SEAT_ORDER, type SeatPosition } from './seat.ts';

// Who answers for an agent, and with that, where words to it go. The relay and the page ask the
// same function.

/**
 * A program elsewhere that plays an agent by its credential: over MCP, or with its model requests.
 */
export interface JoinedClient {
  /** As the person named its credential. */
  readonly name: string;
  /** It has Roost's tools, and can read the agent's inbox. */
  readonly readsInbox: boolean;
}

/**
 * `nobody`: words wait until it is woken. `mind`: they are put before it. `client`: they wait in
 * its inbox, until the client looks.
 */
export type Answering =
  | { readonly by: 'nobody' }
  | { readonly by: 'mind' }
  | ({ readonly by: 'client' } & JoinedClient);

interface Company {
  /** A mind of the relay's sits in its seat, and has answered in this session. */
  readonly mind: boolean;
  /** Null: none has joined. */
  readonly client: JoinedClient | null;
  /** Its sleeping flag is set: what either of them asks for is held. */
  readonly paused: boolean;
}

const NOBODY: Answering = { by: 'nobody' };
const MIND: Answering = { by: 'mind' };

/** The mind before the client: whoever talks to a seat talks to who answers there. */
export function whoAnswers({ mind, client, paused }: Company): Answering {
  if (paused) return NOBODY;
  if (mind) return MIND;
  return client ? { by: 'client', ...client } : NOBODY;
}

// The run that something was said in, where that was in no session.

export const aloneIn = ({
  sessionId,
  runId,
}: {
  readonly sessionId: SessionId | null;
  readonly runId?: RunId | undefined;
}): string | null => (sessionId === null ? (runId ?? null) : null);
/** The same as a field, which is left out where it was in a session. */
export function whereAlone(said: Parameters<typeof aloneIn>[0]): { readonly aloneIn?: string } {
  const runId = aloneIn(said);
  return runId === null ? {} : { aloneIn: runId };
}

/** How a session ended. */
export interface SessionEnd {
  /** ms since the epoch */
  readonly endedAt: number;
  /** `crash`, or another. */
  readonly reason: string;
}

/**
 * Since when an agent sleeps, ms since the epoch: the one answer for tiles, conversations and what
 * the agent is told. `lastSaid`: when the last thing was said that it remembers; `end`: of the
 * session in which that was, null where it is not known. A crash is dated by the relay's next
 * start, and says nothing of when. Null: not known.
 */
export function asleepFrom(lastSaid: number | null, end: SessionEnd | null): number | null {
  if (end === null || end.reason === 'crash') return lastSaid;
  return Math.max(lastSaid ?? end.endedAt, end.endedAt);
}

/**
 * `played`: no mind of the relay's is in its seat, but a client plays it from elsewhere. WAKE
 * brings the mind.
 */
export type Lifecycle = 'empty' | 'hatching' | 'awake' | 'played' | 'sleeping';

/**
 * What the relay says of the session that runs. `null` wherever the page does not know that one
 * runs.
 */
export interface LiveSession {
  readonly sessionId: SessionId;
  /** Agents that have answered in this session and were not put to sleep since. */
  readonly awake: ReadonlySet<string>;
  /** By agent id: who is driven by a client, beside a mind or without one. */
  readonly clients: ReadonlyMap<string, JoinedClient>;
  /**
   * Those among the awake and the played who are set to sleep: part of the team, with all that was
   * said, and silent.
   */
  readonly paused: ReadonlySet<string>;
  /** Agents (by id) that were called and have not answered yet. */
  readonly waking: ReadonlySet<string>;
  /** Seats in which somebody is being born. */
  readonly births: ReadonlySet<number>;
}

export function lifecycleOf(agent: Agent | undefined, position: SeatPosition, live: LiveSession | null): Lifecycle {
  if (!agent) return live?.births.has(position) ? 'hatching' : 'empty';
  if (!live) return 'sleeping';
  const { agentId } = agent;
  if (live.waking.has(agentId) && !live.awake.has(agentId)) return 'hatching';
  const { by } = answeringOf(agentId, live);
  return by === 'mind' ? 'awake' : by === 'client' ? 'played' : 'sleeping';
}

export const answeringOf = (agentId: AgentId, live: LiveSession | null): Answering =>
  whoAnswers({
    mind: live?.awake.has(agentId) ?? false,
    client: live?.clients.get(agentId) ?? null,
    paused: live?.paused.has(agentId) ?? false,
  });

/** Whom WAKE calls: whoever has no mind of the relay's that answers. */
export const canBeWoken = (state: Lifecycle): boolean => state === 'sleeping' || state === 'played';

/** A call that this page has made and the relay has not yet confirmed; it holds the button down. */
export type PendingCall = 'wake' | 'summon' | null;

export type BigButton =
  | { readonly kind: 'none' }
  | { readonly kind: 'busy'; readonly label: 'WAKING…' | 'SUMMONING…' }
  | { readonly kind: 'wake'; readonly label: 'WAKE'; readonly agents: readonly Agent[] }
  | { readonly kind: 'summon'; readonly label: string; readonly seats: readonly SeatPosition[] };

/** The one big button: what it says and what it would do. */
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
