/**
 * What the relay's parts promise each other, as types. A part depends on these and not on another
 * part's code.
 *
 * `server/households/team.ts` wires the parts together, and tests wire the same parts.
 *
 * Main types: `Mind`, `Tool` and `Caller`, `Gate` and `Configs`, `SessionHost`, `Reach`,
 * `EventLog`, `Costs`, `Pauses`, `Searches`.
 *
 * Invariants:
 * - A contract names its failures. What is not named is a fault of the relay.
 * - Nothing here has state.
 *
 * It does not know Postgres, HTTP, or any part that fulfils a contract.
 */
import type { AgentId, SessionId, MessageId } from '../../src/shared/domain/ids.ts';
import type { Cost } from '../../src/shared/domain/prices.ts';
import type { RequestSize } from '../../src/shared/domain/request-cost.ts';
import type { Stamp } from '../../src/shared/domain/stamp.ts';
import type { EventLists, TeamEvents } from './session.ts';
import type { Took } from './mind.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../../src/shared/protocol/events.ts';
import type { SearchAnswered, SearchAsked } from '../../src/shared/protocol/searches.ts';

export type { Took } from './mind.ts';
export type { AgentState } from '../../src/shared/domain/guardrails.ts';
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
  DeedEnd,
  NoteDeed,
  PersonAnswer,
  ToolOutcome,
  TeamTool,
  Verdict,
} from './tools.ts';

// What requests cost, and whether another may be sent.

export interface RequestEnd {
  readonly sessionId: SessionId | null;
  /** The answer that the request was for. */
  readonly messageId: MessageId | null;
  readonly via: 'session' | 'proxy';
  readonly took: Took;
}

/**
 * Money that is held for a request, at the most that it may cost. Given back as soon as that
 * request is over, and before tools run on its answer: others may wait for it. Of `settle` and
 * `release` the first call counts.
 */
export interface CostHold {
  /**
   * It was sent, and ended without a word of what it took: that is counted at the most that it may
   * be. Whether it may be sent once more: as much is held for that anew, where there is room at
   * once. Where not, the hold is over.
   */
  again(): Promise<boolean>;
  /** It was sent: counts what it took, and of what is not known the most that it may have been. */
  settle(end: RequestEnd): Promise<void>;
  /** What it was counted at so far: all that it was sent for. */
  spent(): Cost;
  /** It was not sent, or refused: it cost nothing. */
  release(): void;
}

export interface CostRequest {
  readonly agentId: AgentId;
  readonly size: RequestSize;
  /** Whose calls are counted together, beside the agent's. Left out: the session asks. */
  readonly credentialId?: string;
  /** What it is for, as in `RequestEnd`. */
  readonly sessionId?: SessionId | null;
  readonly messageId?: MessageId;
  /** Of a warm-up: nothing goes to a model, and no trace is left. */
  readonly rehearsed?: boolean;
}

type CostCheck =
  | { readonly ok: true; readonly hold: CostHold }
  /**
   * The message is for the agent and for the person. `until`: when the budget opens again by
   * itself.
   */
  | { readonly ok: false; readonly message: string; readonly until: number };

export interface Costs {
  /**
   * Whether another request of this agent may be sent now. Where it might, with what is under way,
   * go past what is left of a budget, or too many are under way, it waits for one of those to end
   * first. Rejects with the signal's reason once that aborts.
   */
  check(request: CostRequest, signal?: AbortSignal): Promise<CostCheck>;
}

// What agents look for, between them and the pages that answer.

/**
 * `no-page`: none is open; `late`: none has answered in time; `unable`: those that are there cannot
 * look just now.
 */
export type Unanswered = 'no-page' | 'late' | 'unable' | 'too-many' | 'aborted';
export type SearchOutcome =
  | { readonly ok: true; readonly answer: SearchAnswered }
  | { readonly ok: false; readonly why: Unanswered };

export interface Searches {
  /**
   * A page that answers: it is told what is asked, and says whether it could be. Returns the way to
   * stop.
   */
  listen(page: (asked: SearchAsked) => boolean): () => void;
  ask(asked: Omit<SearchAsked, 'searchId'>, signal: AbortSignal): Promise<SearchOutcome>;
  /** Of the page of this sign-in. False: nobody waits for it. */
  answer(searchId: string, page: string, answer: SearchAnswered): boolean;
}

// The sleeping flags, and whoever waits for them.

/**
 * `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: whoever
 * waits has gone.
 */
export type PauseWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Pauses {
  /**
   * A session begins: who is in it is known by `join`. `lists`: of those that have others in it
   * than their own.
   */
  begin(sessionId: SessionId, lists?: EventLists): void;
  /**
   * By what happens this agent is put to sleep, and woken: the session's lists where it has such,
   * else the agent's own.
   */
  eventsOf(agentId: AgentId): Promise<TeamEvents>;
  /**
   * An agent is in the running session now; its flag is set where `agent_started` is among its
   * sleep events.
   */
  join(agentId: AgentId): Promise<void>;
  /** Whoever waits is told that the session is over. */
  end(sessionId: SessionId): void;
  isPaused(agentId: AgentId): boolean;
  /** Null where the session or the agent is not known. `by`: who or what set it, for the event. */
  set(sessionId: SessionId, agentId: AgentId, paused: boolean, by: string): Promise<boolean | null>;
  get(sessionId: SessionId, agentId: AgentId): boolean | null;
  /**
   * At once where the agent is not asleep, is not in the session, or no session runs; one that
   * joins just now waits until it is known. `limitMs`: Infinity waits as long as the session.
   */
  wait(agentId: AgentId, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  /** How many wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: SessionId; readonly agentId: AgentId; readonly paused: boolean }) => void,
  ): () => void;
}

// The event log of one home.

/** Events that do not fit their own schema. None of what was appended with them is written. */
export class UnfitEvents extends Error {
  override readonly name = 'UnfitEvents';
  /** The others that were to be written with them. */
  readonly fit: readonly RoostEvent[];
  constructor(unfit: readonly { readonly kind: string; readonly why: string }[], fit: readonly RoostEvent[]) {
    super(`Events that do not fit their schema: ${unfit.map(({ kind, why }) => `${kind}: ${why}`).join('; ')}`);
    this.fit = fit;
  }
}

/**
 * The durable, append-only log of events. What is answered or shown to anyone was written here
 * first.
 */
export interface EventLog {
  /** Names this log: another home has another id. */
  readonly id: string;
  /**
   * Resolves when the events are on disk, in order. Appends that come close together share one
   * commit. Rejects with `UnfitEvents`.
   */
  append(events: readonly RoostEvent[]): Promise<readonly StoredEvent[]>;
  /**
   * As `append`, once per `clientId`: a repeat, also after a restart, writes nothing and answers
   * with the id of the first event that the first call wrote.
   */
  appendOnce(clientId: string, events: readonly RoostEvent[]): Promise<{ eventId: number; repeated: boolean }>;
  /** What is appended from now on is later than this stamp. */
  follow(stamp: Stamp): void;
  /**
   * Does this lie further ahead than a clock may be, of the wall clock and of all that is in the
   * log?
   */
  isAhead(stamp: Stamp): boolean;
  /** The event id that an earlier `appendOnce` with this `clientId` wrote, or null. */
  written(clientId: string): Promise<number | null>;
  /** Stored events with id > `after`, oldest first, at most `limit`. */
  read(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Called for each event, in order, after it is on disk. Returns the way to stop. */
  subscribe(listener: (stored: StoredEvent) => void): () => void;
  /** Highest id on disk, 0 in an empty log. */
  head(): number;
  /** A browser has stored everything up to here; it may be dropped when it is old enough. */
  ack(upTo: number): Promise<void>;
  /** The running session as a fold over the log, as of `head()`. */
  snapshot(): Snapshot;
}
