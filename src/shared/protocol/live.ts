/**
 * The running session and all runs, as a fold over events. The relay folds them for its snapshots,
 * and the browser continues from a snapshot. Both use the same function, so they cannot disagree.
 */
import type { AgentId, SessionId } from '../domain/ids.ts';
import type { LiveSession } from '../domain/lifecycle.ts';
import type { AsleepReason, Snapshot, StoredEvent } from './events.ts';

export const NO_SESSION: Snapshot = { upTo: 0, session: null, runs: [], answering: [], lastEnd: null };

type RunningSession = NonNullable<Snapshot['session']>;

const without = <T extends { agentId: AgentId }>(list: readonly T[], agentId: AgentId) =>
  list.filter((item) => item.agentId !== agentId);

type Client = RunningSession['clients'][number];
const isDriven = (session: RunningSession, agentId: AgentId) =>
  session.clients.some((client) => client.agentId === agentId);
const isOf = (credentialId: string) => (client: Client) => client.credentialId === credentialId;

function join({ clients }: RunningSession, client: Client): Client[] {
  return clients.some(isOf(client.credentialId))
    ? clients.map((known) => (known.credentialId === client.credentialId ? client : known))
    : [...clients, client];
}

/** A departed agent without a mind or another client loses its sleeping flag. */
function leave(session: RunningSession, agentId: AgentId, credentialId: string): RunningSession {
  const left = { ...session, clients: session.clients.filter((client) => !isOf(credentialId)(client)) };
  return left.awake.includes(agentId) || isDriven(left, agentId)
    ? left
    : { ...left, paused: left.paused.filter((id) => id !== agentId) };
}

function fallAsleep(session: RunningSession, agentId: AgentId, reason: AsleepReason): RunningSession {
  return {
    ...session,
    awake: session.awake.filter((id) => id !== agentId),
    paused: session.paused.filter((id) => id !== agentId || isDriven(session, agentId)),
    hatching: without(session.hatching, agentId),
    asleep: [...without(session.asleep, agentId), { agentId, reason }],
  };
}

function applyToSession(session: RunningSession, { event }: StoredEvent): RunningSession {
  switch (event.kind) {
    case 'mind-changed':
      return { ...session, mind: event.mind };
    case 'call-started': {
      const called = new Set(event.seats.map((seat) => seat.agentId));
      const fresh = event.seats.map((seat) => ({ ...seat, call: event.call, callId: event.callId }));
      return {
        ...session,
        hatching: [...session.hatching.filter((seat) => !called.has(seat.agentId)), ...fresh],
        asleep: session.asleep.filter((item) => !called.has(item.agentId)),
      };
    }
    case 'call-ended':
      return { ...session, hatching: session.hatching.filter((seat) => seat.callId !== event.callId) };
    case 'agent-born':
    case 'agent-awake':
      return {
        ...session,
        awake: [...session.awake.filter((id) => id !== event.agentId), event.agentId],
        hatching: without(session.hatching, event.agentId),
        asleep: without(session.asleep, event.agentId),
      };
    case 'client-joined': {
      const { agentId, credentialId, client, readsInbox } = event;
      return { ...session, clients: join(session, { agentId, credentialId, client, readsInbox }) };
    }
    case 'client-left':
      return leave(session, event.agentId, event.credentialId);
    case 'agent-asleep':
      return fallAsleep(session, event.agentId, event.reason);
    case 'birth-ended':
      return { ...session, hatching: without(session.hatching, event.agentId) };
    case 'pause-flag': {
      const others = session.paused.filter((id) => id !== event.agentId);
      return { ...session, paused: event.paused ? [...others, event.agentId] : others };
    }
    default:
      return session;
  }
}

/** Runs, and answers that are being written. */
function applyToRuns(state: Snapshot, { id, event }: StoredEvent): Snapshot {
  switch (event.kind) {
    case 'run-started': {
      const { runId, agentId, sessionId, cause, time: startedAt } = event;
      const others = state.runs.filter((run) => run.runId !== runId);
      return { ...state, runs: [...others, { runId, agentId, sessionId, cause, startedAt, startedBy: id }] };
    }
    case 'run-ended':
      return {
        ...state,
        runs: state.runs.filter((run) => run.runId !== event.runId),
        answering: state.answering.filter((answer) => answer.runId !== event.runId),
      };
    case 'answer-started': {
      const { messageId, agentId, sessionId, runId, at } = event;
      const more = { ...(runId === undefined ? {} : { runId }), ...(at === undefined ? {} : { at }) };
      return { ...state, answering: [...state.answering, { messageId, agentId, sessionId, ...more }] };
    }
    case 'message':
      return state.answering.some((answer) => answer.messageId === event.messageId)
        ? { ...state, answering: state.answering.filter((answer) => answer.messageId !== event.messageId) }
        : state;
    default:
      return state;
  }
}

/** The state after one more event. Events at or before `upTo` change nothing. */
export function applyEvent(state: Snapshot, stored: StoredEvent): Snapshot {
  const { id, event } = stored;
  if (id <= state.upTo) return state;
  if (event.kind === 'session-started') {
    const { sessionId, time: startedAt, mind } = event;
    return {
      ...state,
      upTo: id,
      session: {
        sessionId,
        startedAt,
        mind,
        awake: [],
        hatching: [],
        asleep: [],
        clients: [],
        paused: [],
      },
    };
  }
  if (event.kind === 'session-ended') {
    const lastEnd = { sessionId: event.sessionId, reason: event.reason, endedAt: event.time };
    // Runs and answers of the session end with it, even if their own ends were not written.
    const outside = ({ sessionId }: { readonly sessionId: SessionId | null }) => sessionId !== event.sessionId;
    return {
      upTo: id,
      session: null,
      runs: state.runs.filter(outside),
      answering: state.answering.filter(outside),
      lastEnd,
    };
  }
  return { ...applyToRuns(state, stored), upTo: id, session: state.session && applyToSession(state.session, stored) };
}

/** Converts a snapshot for the lifecycle functions. Null stays null: all agents sleep. */
export function liveSessionOf(state: Snapshot | null): LiveSession | null {
  const session = state?.session;
  if (!session) return null;
  return {
    sessionId: session.sessionId,
    awake: new Set(session.awake),
    // If several clients drive one agent, the first to join wins.
    clients: new Map(
      [...session.clients].reverse().map(({ agentId, client, readsInbox }) => [agentId, { name: client, readsInbox }]),
    ),
    paused: new Set(session.paused),
    waking: new Set(session.hatching.filter((seat) => seat.call === 'wake').map((seat) => seat.agentId)),
    births: new Set(session.hatching.filter((seat) => seat.call === 'summon').map((seat) => seat.position)),
  };
}
