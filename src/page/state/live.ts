/**
 * What is known of the relay: the connection and the running session. An agent is awake only while
 * the connection is `live` and has a session. Everything else asks `liveSession`.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, RunId } from '../../shared/domain/ids.ts';
import type { EndReason, RunDoc, SessionDoc } from '../../shared/protocol/documents.ts';
import type { RunCause, RunOutcome } from '../../shared/protocol/runs.ts';
import type { LiveSession } from '../../shared/domain/lifecycle.ts';
import type { AsleepReason, CallKind, Snapshot, StoredEvent } from '../../shared/protocol/events.ts';
import type { Waiting } from '../../shared/protocol/stream.ts';
import { applyEvent, liveSessionOf, NO_SESSION } from '../../shared/protocol/live.ts';
import type { LinkState, Undelivered } from '../../shared/protocol/worker.ts';
import { retold } from '../language/t.ts';

// Start and end of sessions and runs, as far as the ledger knows. A run is outside any session and
// has a cause.

export interface SessionSpan {
  readonly startedAt: number | null;
  readonly end: { readonly endedAt: number; readonly reason: EndReason } | null;
}

export interface RunSpan {
  readonly runId: RunId;
  /** null if its beginning is not known. */
  readonly cause: RunCause | null;
  readonly startedAt: number | null;
  /** null while it runs, or if its end is not known. */
  readonly end: { readonly endedAt: number; readonly outcome: RunOutcome; readonly reason: string | null } | null;
}

export const unknownRun = (runId: RunId): RunSpan => ({ runId, cause: null, startedAt: null, end: null });

export function runSpansOf(docs: Iterable<RunDoc>): ReadonlyMap<string, RunSpan> {
  const spans = new Map<string, RunSpan>();
  for (const { runId, phase } of docs) {
    const span = spans.get(runId) ?? unknownRun(runId);
    if (phase.kind === 'start') spans.set(runId, { ...span, cause: phase.cause, startedAt: phase.startedAt });
    else
      spans.set(runId, {
        ...span,
        end: { endedAt: phase.endedAt, outcome: phase.outcome, reason: phase.reason },
      });
  }
  return spans;
}

export function sessionSpansOf(sessions: Iterable<SessionDoc>): ReadonlyMap<string, SessionSpan> {
  const spans = new Map<string, SessionSpan>();
  for (const { sessionId, phase } of sessions) {
    const held = spans.get(sessionId) ?? { startedAt: null, end: null };
    if (phase.kind === 'start') spans.set(sessionId, { ...held, startedAt: phase.startedAt });
    else spans.set(sessionId, { ...held, end: { endedAt: phase.endedAt, reason: phase.reason } });
  }
  return spans;
}

/** A wake or summon that the relay announced, for the progress line. */
interface HeardCall {
  readonly callId: string;
  readonly call: CallKind;
  readonly agentIds: readonly AgentId[];
}

export type ClientCall = NonNullable<Waiting['clients']>[number];

export interface LiveState {
  readonly link: LinkState;
  /**
   * Until when the relay was connected, in ms since the epoch; null: it is connected, or never was.
   */
  readonly heardUntil: number | null;
  /** The session as the relay last announced it. It may be out of date: see `live`. */
  readonly session: Snapshot['session'];
  /** null wherever the page does not know that a session runs. */
  readonly live: LiveSession | null;
  /** Agents at work outside a session, and since when, as far as the page knows. */
  readonly working: ReadonlyMap<string, number>;
  /** When the last run of an agent outside a session ended, as far as this page knows. */
  readonly ranUntil: ReadonlyMap<string, number>;
  readonly lastEnd: Snapshot['lastEnd'];
  readonly calls: ReadonlyMap<string, HeardCall>;
  /**
   * Number of wakes and summons announced since the page was opened. A page that made one waits for
   * it to grow.
   */
  readonly callsHeard: number;
  /** Why the last wake or summon failed as a whole. */
  readonly callError: { readonly call: CallKind; readonly error: string } | null;
  /**
   * All agents of the last wake, if several, are still asleep. Reported once, with the first
   * agent's reason.
   */
  readonly nobodyCame: { readonly agentIds: readonly AgentId[]; readonly reason: string } | null;
  /** Places in the queue of the model's server, by agent id; 1 is next. */
  readonly positions: ReadonlyMap<string, number>;
  /** Latest call that an API client made for an agent, by agent id. */
  readonly clientCalls: ReadonlyMap<string, ClientCall>;
  /** Why the relay did not take a queued message, by its client id. */
  readonly undelivered: ReadonlyMap<string, string>;
  /** Why an egg became an empty seat again, by position. */
  readonly birthReasons: ReadonlyMap<number, AsleepReason>;
}

export interface Live {
  readonly store: StoreApi<LiveState>;
  hearLink(link: LinkState, snapshot: Snapshot | null): void;
  hearEvent(stored: StoredEvent): void;
  hearWaiting(waiting: Waiting): void;
  hearUndelivered(refusals: readonly Undelivered[]): void;
  dismissCallError(): void;
}

const believed = (link: LinkState, snapshot: Snapshot) => (link.kind === 'live' ? liveSessionOf(snapshot) : null);

const NOBODY: ReadonlyMap<string, number> = new Map();
function workingIn(link: LinkState, { runs }: Snapshot): ReadonlyMap<string, number> {
  const alone = link.kind === 'live' ? runs.filter(({ sessionId }) => sessionId === null) : [];
  return alone.length === 0 ? NOBODY : new Map(alone.map(({ agentId, startedAt }) => [agentId, startedAt]));
}

export function createLive(now: () => number = Date.now): Live {
  // The fold runs on every event. The store changes only when something visible has changed.
  let snapshot: Snapshot = NO_SESSION;
  const store = createStore<LiveState>()(() => ({
    link: { kind: 'connecting' },
    heardUntil: null,
    session: null,
    live: null,
    working: NOBODY,
    ranUntil: NOBODY,
    lastEnd: null,
    calls: new Map(),
    callsHeard: 0,
    callError: null,
    nobodyCame: null,
    positions: new Map(),
    clientCalls: new Map(),
    undelivered: new Map(),
    birthReasons: new Map(),
  }));

  function nobodyOf(agentIds: readonly AgentId[]): LiveState['nobodyCame'] {
    const asleep = snapshot.session?.asleep ?? [];
    const reasons = agentIds.flatMap((agentId) => asleep.find((item) => item.agentId === agentId)?.reason ?? []);
    const [first] = reasons;
    const failed = reasons.every(({ code }) => code === 'failed' || code === 'silent');
    return first && failed && agentIds.length > 1 && reasons.length === agentIds.length
      ? { agentIds, reason: first.message }
      : null;
  }

  function follow({ event }: StoredEvent): Partial<LiveState> {
    const { calls, callsHeard, birthReasons, ranUntil } = store.getState();
    switch (event.kind) {
      case 'call-started': {
        const next = new Map(birthReasons);
        for (const seat of event.seats) next.delete(seat.position);
        const call = { callId: event.callId, call: event.call, agentIds: event.seats.map((seat) => seat.agentId) };
        return {
          calls: new Map(calls).set(event.callId, call),
          callsHeard: callsHeard + 1,
          callError: null,
          nobodyCame: null,
          birthReasons: next,
        };
      }
      case 'call-ended': {
        const call = calls.get(event.callId);
        const next = new Map(calls);
        next.delete(event.callId);
        return {
          calls: next,
          nobodyCame: call?.call === 'wake' && event.error === null ? nobodyOf(call.agentIds) : null,
          ...(event.error === null ? {} : { callError: { call: call?.call ?? 'wake', error: event.error } }),
        };
      }
      case 'birth-ended':
        return { birthReasons: new Map(birthReasons).set(event.position, event.reason) };
      case 'agent-born': {
        const next = new Map(birthReasons);
        next.delete(event.position);
        return { birthReasons: next };
      }
      case 'run-ended':
        return event.sessionId === null ? { ranUntil: new Map(ranUntil).set(event.agentId, event.time) } : {};
      case 'session-started':
        return { calls: new Map(), callError: null, nobodyCame: null, birthReasons: new Map() };
      case 'session-ended':
        return { calls: new Map(), nobodyCame: null, birthReasons: new Map() };
      default:
        return {};
    }
  }

  return {
    store,
    hearLink(link, heard) {
      if (heard) snapshot = heard;
      const { session, lastEnd } = snapshot;
      const before = store.getState();
      const heardUntil = link.kind === 'live' ? null : before.link.kind === 'live' ? now() : before.heardUntil;
      // A new connection announces the queue anew.
      store.setState({
        link,
        heardUntil,
        session,
        lastEnd,
        live: believed(link, snapshot),
        working: workingIn(link, snapshot),
        positions: new Map(),
        clientCalls: new Map(),
      });
    },
    hearEvent(stored) {
      if (stored.id <= snapshot.upTo) return;
      const before = snapshot;
      snapshot = applyEvent(snapshot, stored);
      const changes = follow(stored);
      if (snapshot.session !== before.session || snapshot.lastEnd !== before.lastEnd)
        Object.assign(changes, {
          session: snapshot.session,
          lastEnd: snapshot.lastEnd,
          live: believed(store.getState().link, snapshot),
        } satisfies Partial<LiveState>);
      if (snapshot.runs !== before.runs)
        Object.assign(changes, { working: workingIn(store.getState().link, snapshot) });
      if (Object.keys(changes).length > 0) store.setState(changes);
    },
    hearWaiting: ({ waiting, clients = [] }) =>
      store.setState({
        positions: new Map(waiting.map(({ agentId, position }) => [agentId, position])),
        clientCalls: new Map(clients.map((call) => [call.agentId, call])),
      }),
    hearUndelivered: (refusals) =>
      store.setState({
        undelivered: new Map(refusals.map(({ clientId, message, type }) => [clientId, retold(message, type)])),
      }),
    dismissCallError: () => store.setState({ callError: null, nobodyCame: null }),
  };
}

/**
 * Progress of the running wake or summon, or null. `total` is null where its beginning was missed.
 */
export function callProgress(
  state: LiveState,
): { call: CallKind; done: number; total: number | null; left: number } | null {
  const hatching = state.live ? (state.session?.hatching ?? []) : [];
  const first = hatching[0];
  if (!first) return null;
  const call: CallKind = hatching.some((seat) => seat.call === 'summon') ? 'summon' : 'wake';
  const running = hatching.filter((seat) => seat.call === call);
  const callIds = new Set(running.map((seat) => seat.callId));
  let total = 0;
  for (const callId of callIds) {
    const heard = state.calls.get(callId);
    if (!heard) return { call, done: 0, total: null, left: running.length };
    total += heard.agentIds.length;
  }
  return { call, done: total - running.length, total, left: running.length };
}

/** Is this agent set to sleep in the running session? It keeps what was said, and is not asked. */
export const isPaused = ({ live }: LiveState, agentId: AgentId): boolean =>
  live !== null && live.paused.has(agentId) && (live.awake.has(agentId) || live.clients.has(agentId));

/** Why this agent sleeps although it was woken in this session, or null. */
export function asleepReason(state: LiveState, agentId: AgentId): AsleepReason | null {
  // A reason given for all of them is not repeated for each.
  if (!state.live || state.nobodyCame?.agentIds.includes(agentId)) return null;
  return state.session?.asleep.find((item) => item.agentId === agentId)?.reason ?? null;
}
