/**
 * The contracts between the relay's parts, as types. A part depends on these types and not on
 * another part's code.
 *
 * `server/households/team.ts` wires the parts together. Tests wire the same parts.
 *
 * Main types: `Mind`, `Tool` and `Caller`, `Gate` and `Configs`, `SessionHost`, `Reach`,
 * `EventLog`, `Costs`, `Pauses`, `Searches`.
 *
 * Invariants:
 * - A contract names its expected failures. Any other failure is a fault of the relay.
 * - Nothing here has state.
 *
 * It does not know Postgres, HTTP, or any part that implements a contract.
 */
import type { AgentId, MessageId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import type { Cost } from '../../src/shared/domain/prices.ts';
import type { RequestSize } from '../../src/shared/domain/request-cost.ts';
import type { Stamp } from '../../src/shared/domain/stamp.ts';
import type { EventLists, TeamEvents } from './session.ts';
import type { Took } from './mind.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../../src/shared/protocol/events.ts';
import type { SearchAnswered, SearchAsked } from '../../src/shared/protocol/search.ts';

export { type RecordWork, RECORDS_NOTHING } from './recorder.ts';
export type { Took } from './mind.ts';
export type { AgentState } from '../../src/shared/domain/guardrails.ts';
export { type Deed, type NoteForeign, type Reader, WAYS } from './tools.ts';
export type {
  Directory,
  NewInboxMessage,
  TakenMessage,
  Inbox,
  Alone,
  CallersPermit,
  DueCause,
  GivenBefore,
  NotReached,
  Reach,
  Reached,
  ThreadHooks,
  WakeAsked,
  Birth,
  Brought,
  EventLists,
  TeamEvents,
  MoreForAgent,
  PostOutcome,
  CallingClient,
  Meanwhile,
  Newborn,
  SessionHost,
  WakeRequests,
  WokenTalk,
} from './session.ts';
export type { Configs, Gate, GateAnswer, Pulses, WakePermit, WakeRequest } from './gate.ts';
export type {
  Agreed,
  AnsweredCall,
  Asking,
  AskLeave,
  AskPerson,
  Caller,
  CommandOf,
  DeedEnd,
  NoteDeed,
  PersonAnswer,
  RunScope,
  RunScopes,
  ToolOutcome,
  TeamTool,
  Verdict,
} from './tools.ts';

// Costs of requests, and whether the budget permits another one.

export interface RequestEnd {
  readonly sessionId: SessionId | null;
  /** The answer that the request was made for. */
  readonly messageId: MessageId | null;
  readonly via: 'session' | 'proxy';
  readonly took: Took;
}

/**
 * Money reserved for one request: the most that it may cost. It is released when the request ends
 * and before tools run on the answer, because other requests may wait for it. Only the first call
 * of `settle` or `release` counts.
 */
export interface CostHold {
  /**
   * The request was sent and ended without any usage report. The hold counts it at its maximum.
   * Resolves with whether the request may be sent again: where the budget has room at once, the
   * same amount is reserved anew. Otherwise the hold ends.
   */
  again(): Promise<boolean>;
  /** The request was sent. Counts its usage; unknown parts count at their maximum. */
  settle(end: RequestEnd): Promise<void>;
  /** The cost counted so far, over all attempts. */
  spent(): Cost;
  /** The request was not sent, or was refused. It cost nothing. */
  release(): void;
}

export interface CostRequest {
  readonly agentId: AgentId;
  readonly size: RequestSize;
  /**
   * The credential whose calls are counted together, beside the agent's. Left out: the session
   * asks.
   */
  readonly credentialId?: string;
  /** The purpose of the request, as in `RequestEnd`. */
  readonly sessionId?: SessionId | null;
  readonly messageId?: MessageId;
  /** The run that asks. Left out: a client does. */
  readonly runId?: RunId;
  /** It is refused if it may cost more than this. Left out: budgets alone limit it. */
  readonly mostMicroUsd?: number;
  /** Part of a warm-up: nothing is sent to a model, and no trace is left. */
  readonly rehearsed?: boolean;
}

type CostCheck =
  | { readonly ok: true; readonly hold: CostHold }
  /** `message` is for the agent and the person. `until`: when the budget opens again by itself. */
  | { readonly ok: false; readonly message: string; readonly until: number };

export interface Costs {
  /**
   * Whether this agent may send another request now. Waits for running requests to end where they
   * might exhaust the rest of a budget, or where too many run. Rejects with the signal's reason
   * once it aborts.
   */
  check(request: CostRequest, signal?: AbortSignal): Promise<CostCheck>;
}

// Agents' searches, between the agents and the pages that answer.

/**
 * `no-page`: no page is open. `late`: no page answered in time. `unable`: the open pages cannot
 * search just now.
 */
export type Unanswered = 'no-page' | 'late' | 'unable' | 'too-many' | 'aborted';
export type SearchOutcome =
  | { readonly ok: true; readonly answer: SearchAnswered }
  | { readonly ok: false; readonly why: Unanswered };

export interface Searches {
  /**
   * Registers a page that answers. It receives each search and returns whether it could be reached.
   * Returns a function that unregisters it.
   */
  listen(page: (asked: SearchAsked) => boolean): () => void;
  ask(asked: Omit<SearchAsked, 'searchId'>, signal: AbortSignal): Promise<SearchOutcome>;
  /** An answer from the page of this sign-in. False: nobody waits for it. */
  answer(searchId: string, page: string, answer: SearchAnswered): boolean;
}

// Sleeping flags, and the callers that wait for them.

/**
 * `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: the caller
 * is gone.
 */
export type PauseWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Pauses {
  /**
   * A session begins. Its agents arrive through `join`. `lists`: event lists of agents for which
   * the session overrides their own.
   */
  begin(sessionId: SessionId, lists?: EventLists): void;
  /**
   * The events that put this agent to sleep and wake it: the session's lists where it has some,
   * else the agent's own.
   */
  eventsOf(agentId: AgentId): Promise<TeamEvents>;
  /**
   * An agent joins the running session. Its flag is set where `agent_started` is one of its sleep
   * events.
   */
  join(agentId: AgentId): Promise<void>;
  /** Notifies all waiting callers that the session is over. */
  end(sessionId: SessionId): void;
  isPaused(agentId: AgentId): boolean;
  /**
   * Null where the session or the agent is unknown. `by`: who or what set the flag, for the event.
   */
  set(sessionId: SessionId, agentId: AgentId, paused: boolean, by: string): Promise<boolean | null>;
  get(sessionId: SessionId, agentId: AgentId): boolean | null;
  /**
   * Resolves at once where the agent is awake, is not in the session, or no session runs. An agent
   * that is just joining is waited for. `limitMs`: Infinity waits as long as the session.
   */
  wait(agentId: AgentId, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  /** How many callers wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: SessionId; readonly agentId: AgentId; readonly paused: boolean }) => void,
  ): () => void;
}

// The event log of one home.

/** Events that do not fit their own schema. The whole append is refused. */
export class UnfitEvents extends Error {
  override readonly name = 'UnfitEvents';
  /** The valid events of the same append. */
  readonly fit: readonly RoostEvent[];
  constructor(unfit: readonly { readonly kind: string; readonly why: string }[], fit: readonly RoostEvent[]) {
    super(`Events that do not fit their schema: ${unfit.map(({ kind, why }) => `${kind}: ${why}`).join('; ')}`);
    this.fit = fit;
  }
}

/**
 * The durable, append-only log of events. An event is written here before anybody is answered or
 * shown it.
 */
export interface EventLog {
  /** The id of this log. Another home has another id. */
  readonly id: string;
  /**
   * Resolves when the events are on disk, in order. Appends that come close together share one
   * commit. Rejects with `UnfitEvents`.
   */
  append(events: readonly RoostEvent[]): Promise<readonly StoredEvent[]>;
  /**
   * As `append`, once per `clientId`. A repeat writes nothing, also after a restart. It returns the
   * id of the first event that the first call wrote.
   */
  appendOnce(clientId: string, events: readonly RoostEvent[]): Promise<{ eventId: number; repeated: boolean }>;
  /** Later appends get stamps after this one. */
  follow(stamp: Stamp): void;
  /**
   * Whether this stamp is further ahead of the wall clock, and of the whole log, than a clock may
   * be.
   */
  isAhead(stamp: Stamp): boolean;
  /** The event id that an earlier `appendOnce` with this `clientId` wrote, or null. */
  written(clientId: string): Promise<number | null>;
  /** Stored events with id > `after`, oldest first, at most `limit`. */
  read(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Called for each event, in order, after it is on disk. Returns a function that unsubscribes. */
  subscribe(listener: (stored: StoredEvent) => void): () => void;
  /** Highest id on disk, 0 in an empty log. */
  head(): number;
  /**
   * A browser has stored all events up to this id. The log may drop them once they are old enough.
   */
  ack(upTo: number): Promise<void>;
  /** The running session as a fold over the log, as of `head()`. */
  snapshot(): Snapshot;
}
