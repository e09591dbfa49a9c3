/** The contract of the session, as the relay's other parts see it. */
import type {
  AgentState,
  GateCheck,
  MessagePriority,
  MessageType,
  SleepEvent,
  TeamEvent,
  WakeReason,
} from '../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, ScheduleId, SessionId, ThreadId } from '../../src/shared/domain/ids.ts';
import type { SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import type { SentAttachment } from '../../src/shared/domain/attachment.ts';
import type { InboxMessage } from '../../src/shared/protocol/threads.ts';
import type { Team, TeamMember } from '../../src/shared/protocol/team.ts';
import type { JoinedClient } from '../../src/shared/domain/lifecycle.ts';
import type { AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import type { EffectiveConfig } from '../../src/shared/protocol/config.ts';
import type { EndReason } from '../../src/shared/protocol/documents.ts';
import type { Waiting } from '../../src/shared/protocol/stream.ts';
import type { PostMessage, RunningSettings, StartSession } from '../../src/shared/protocol/http.ts';
import type { GateAnswer, WakePermit, WakeRequest } from './gate.ts';
import type { ToolOutcome } from './tools.ts';
import type { Mind } from './mind.ts';

// Events between agents that may wake one of them.

/**
 * Called for changes in threads that other parts must know. Each call comes after the change is on
 * disk, in order, one at a time. No thread is written until the call resolves, so it must not wait
 * for work that it starts. `added` and `mentioned` resolve with a sentence about the requested wake
 * for the author of the change, or null if no wake was requested. After a crash both may be
 * called again for the same change.
 */
export interface ThreadHooks {
  added(change: {
    readonly threadId: ThreadId;
    readonly title: string;
    readonly agentId: AgentId;
    readonly by: string;
    /** How often it has been added to this thread, this time included. */ readonly times: number;
  }): Promise<string | null>;
  mentioned(change: {
    readonly threadId: ThreadId;
    readonly title: string;
    readonly agentId: AgentId;
    readonly by: string;
    readonly messageId: MessageId;
    readonly text: string;
  }): Promise<string | null>;
  /**
   * The agent has read messages that mention it in the thread. They need not be delivered again.
   */
  mentionsRead(change: {
    readonly threadId: ThreadId;
    readonly agentId: AgentId;
    readonly messageIds: readonly MessageId[];
    readonly run: string;
  }): Promise<void>;
  /** The agent is in no open thread any more: it was removed, or the last thread was closed. */
  leftLast(change: {
    readonly agentId: AgentId;
    readonly event: Extract<SleepEvent, 'removed_from_last_thread' | 'last_thread_closed'>;
  }): Promise<void>;
}

interface WakeAnswer extends Omit<GateAnswer, 'permit'> {
  /**
   * Whether the message reached its agent. For scheduled work, it resolves after the grant. Never
   * rejects.
   */
  readonly over?: Promise<Reached>;
}

/** `until`: when a retry is possible, ms since the epoch. Null: not known. */
export interface NotReached {
  readonly reached: false;
  readonly reason: SkipReason;
  /** A sentence for people. Null: the reason says enough. */
  readonly detail: string | null;
  readonly until: number | null;
}
/** Whether an agent has read the message that it was woken for. */
export type Reached = { readonly reached: true } | NotReached;

/**
 * A schedule that wakes its agent: a reminder, or a script that failed. `status`: how the script
 * ended.
 */
export type DueCause = { readonly scheduleId: ScheduleId; readonly name: string; readonly given: GivenBefore } & (
  | { readonly kind: 'reminder' }
  | { readonly kind: 'script'; readonly status: string }
);
/**
 * Earlier context that a scheduled run carries. `before`: what the agent said at the end of earlier
 * runs, oldest first.
 */
export interface GivenBefore {
  readonly lastSession: boolean;
  readonly before: readonly { readonly at: number; readonly said: string }[];
}

/** A requested wake. `due`: the schedule that causes it, and the kind of run that follows. */
export type WakeAsked = Omit<WakeRequest, 'state' | 'alone' | 'oneAtATime'> & { readonly due?: DueCause | undefined };

/** A permit for work that the caller does itself. Its `release` never rejects. */
export interface CallersPermit extends WakePermit {
  /** Releases the permit when `work` is over. Logs the error of work that fails. */
  releaseAfter(work: Promise<unknown>): void;
}

/** Runs of agents outside a session, for the code that wakes agents. */
export interface Alone {
  /** Whether the relay has what this agent needs to work alone. */
  can(agentId: AgentId): Promise<boolean>;
  /**
   * The outcome of a wake of this agent that was granted at this time. `begins`: a process is about
   * to begin a run. `cut-off`: the process ended during it.
   */
  carried(agentId: AgentId, grantedAt: number): Promise<'no' | 'begins' | 'cut-off' | 'yes'>;
  /** Starts a run with the messages in the agent's inbox. Resolves when the run is over. */
  wake(
    agentId: AgentId,
    by: {
      readonly name: string;
      readonly reason: string | null;
      readonly why: string;
      readonly due?: DueCause | undefined;
      /**
       * The message that the wake is for. If the agent has read it by its turn, nothing begins.
       * Left out: the wake is for no message.
       */
      readonly messageId?: MessageId | null;
    },
  ): Promise<Reached>;
}

/** How other parts of the relay wake agents. This is the only way to the gate. */
export interface Reach {
  /** Puts a message into the inbox. Requests a wake where the message's priority demands it. */
  message(
    caller: { readonly agentId: AgentId; readonly sessionId: SessionId | null },
    message: {
      readonly to: string;
      readonly text: string;
      readonly priority: MessagePriority;
      /** Left out: the sender gives no purpose. */
      readonly type?: MessageType;
    },
  ): Promise<ToolOutcome>;
  wake(
    caller: { readonly agentId: AgentId; readonly sessionId: SessionId | null; readonly runId?: RunId },
    message: { readonly to: string; readonly text: string; readonly reason: WakeReason },
  ): Promise<ToolOutcome>;
  /**
   * Asks the gate. If the gate permits it, wakes the agent: in the session where the agent is part
   * of it, else alone where it can work so.
   */
  ask(request: WakeAsked): Promise<WakeAnswer>;
  /**
   * Clears the sleeping flag of an agent, in order. If the gate refuses, the request is repeated
   * until it passes or the agent is awake for another reason. `only`: the check to wait for; left
   * out: any. `cleared` resolves with whether the agent is awake.
   */
  clearFlag(
    request: WakeAsked,
    only?: GateCheck,
  ): Promise<WakeAnswer & { readonly waits: boolean; readonly cleared: Promise<boolean> }>;
  /**
   * Asks the gate as `ask` does, for a caller that does the work itself and then releases the
   * permit. Until then the agent counts as at work.
   */
  permitFor(request: WakeAsked): Promise<Omit<GateAnswer, 'permit'> & { readonly permit: CallersPermit | null }>;
  /**
   * One occurrence, with all its event names. The agent's own lists decide whether it wakes the
   * agent or puts it to sleep.
   */
  happened(
    agentId: AgentId,
    events: readonly TeamEvent[],
    about: { readonly by: string; readonly messageId: MessageId | null },
  ): Promise<void>;
}

// The household's agents, and the messages that wait for them.

/** All members of the household, as the page last announced them. Names change. Ids do not. */
export interface Directory {
  set(team: Team): Promise<void>;
  all(): Promise<readonly TeamMember[]>;
  /** Whether a page has announced the household's members. */
  isAnnounced(): Promise<boolean>;
  /**
   * Finds an agent by id, by name in any case, or by seat ("3", "seat 3"). The reason is a sentence
   * for the caller.
   */
  find(
    reference: string,
  ): Promise<{ readonly ok: true; readonly agent: TeamMember } | { readonly ok: false; readonly reason: string }>;
}

export interface NewInboxMessage {
  readonly messageId: MessageId;
  readonly to: string;
  /** "human", "relay" or an agent's id. */
  readonly from: string;
  readonly text: string;
  readonly time: number;
  readonly priority: MessagePriority;
  readonly type?: MessageType;
  readonly threadId: ThreadId | null;
  /**
   * The person's attachments are held in memory until they are claimed. The text names them for an
   * agent that reads it after a restart. The relay's attachments are stored with the message, as
   * far as there is room.
   */
  readonly attachments?: readonly SentAttachment[];
}

/** A message as its agent receives it. */
export interface TakenMessage extends InboxMessage {
  readonly attachments?: readonly SentAttachment[];
}

/** Messages that wait for an agent. They survive sessions and restarts. Each is delivered once. */
export interface Inbox {
  /**
   * Stores a message. A repeated message id changes nothing. Null: the message is stored. Otherwise
   * a sentence for the sender: the inbox has no room for an agent's message. `name`: the receiver's
   * name, for that sentence.
   */
  put(message: NewInboxMessage, name?: string): Promise<string | null>;
  /**
   * Messages that wait for this agent, oldest first. The person's messages come first, then at most
   * `limit` others.
   */
  waiting(agentId: AgentId, limit?: number): Promise<readonly InboxMessage[]>;
  /** How many messages wait for this agent. */
  count(agentId: AgentId): Promise<number>;
  /** Null: the message does not exist, or was read long ago. */
  statusOf(messageId: MessageId): Promise<'waits' | 'read' | null>;
  /** Withdraws a message that an agent left for itself. False if it no longer waits. */
  withdraw(messageId: MessageId): Promise<boolean>;
  /**
   * Claims messages for delivery in this run: the id of an answer, or of a call. `readIn`: the
   * session, or the run where there is no session; null: a client outside both. Resolves with the
   * messages that nobody had claimed before, oldest first. They are on disk as read.
   */
  claim(
    messageIds: readonly MessageId[],
    read: { readonly readIn: SessionId | RunId | null; readonly run: string; readonly time: number },
  ): Promise<readonly TakenMessage[]>;
  /** Newest first. `before` is a message id. */
  list(
    agentId: AgentId,
    page: { readonly before: string | null; readonly limit: number },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly more: boolean }>;
  unread(): Promise<ReadonlyMap<string, number>>;
  /**
   * Messages that answers of the relay claimed in this session, or in this run without a session.
   */
  takenIn(readIn: SessionId | RunId): Promise<readonly InboxMessage[]>;
  /** The person withdraws their message. False if it no longer waits here. */
  withdrawForPerson(messageId: MessageId): Promise<boolean>;
  /** Undoes a claim whose message was never delivered. */
  release(messageIds: readonly MessageId[]): Promise<void>;
}

/** Words for an agent beside a message of the person, and tools that they need. */
export interface MoreForAgent {
  readonly text: string;
  readonly tools: readonly string[];
}

export type PostOutcome =
  | { readonly ok: true; readonly eventId: number }
  | {
      readonly ok: false;
      readonly reason: 'no-session' | 'already-awake' | 'unknown-agent' | 'malformed' | 'not-last' | 'too-large';
      readonly detail: string;
    };

/** A client that drives an agent: a credential, and how it was used. */
export interface CallingClient extends JoinedClient {
  readonly credentialId: string;
}

/** The events that put an agent to sleep and that wake it. */
export type TeamEvents = Pick<EffectiveConfig['coordination'], 'sleep_events' | 'wake_events'>;
/** Lists by agent. A missing list is taken from the agent's own settings. */
export type EventLists = ReadonlyMap<AgentId, Partial<TeamEvents>>;

export type Brought =
  | { readonly ok: true; readonly over: Promise<void> }
  | { readonly ok: false; readonly detail: string };

/** The requests of one agent, in order. Each begins with the whole previous request. */
export interface WakeRequests {
  readonly agentId: AgentId;
  readonly model: string;
  /** Size of each request in UTF-8 bytes. */
  readonly bytes: readonly number[];
  /**
   * Of a routine's run: the bytes at the beginning of its request that are the same in the next
   * run, the tools and the system prompt.
   */
  readonly head?: number;
}

/**
 * A note for the agent about what it did alone since then, and the time up to which the note
 * reports. Null: nothing. `asleep`: it wakes with the note. Never rejects.
 */
export type Meanwhile = (
  agentId: AgentId,
  since: number,
  asleep: boolean,
) => Promise<{ readonly text: string; readonly upTo: number } | null>;

/** An agent of this session that the directory may not know yet. */
export interface Newborn {
  readonly member: TeamMember;
  /**
   * What an ACP agent may call over MCP before this agent's birth is complete. Null: the agent is
   * born, and may call all tools.
   */
  readonly birth: Birth | null;
}
export interface Birth {
  /** Names of its tools. */
  readonly tools: readonly string[];
  call(tool: string, input: unknown): Promise<ToolOutcome>;
}

export interface SessionHost {
  /**
   * Runs one wake of made-up agents against this mind, so that first-use costs do not fall on the
   * first real wake. Leaves no trace.
   */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /**
   * The requests that this call would send, measured and not sent. `start` applies where no session
   * runs. Rejects if they cannot be measured now.
   */
  sizeOfWake(
    asked: { readonly start: StartSession; readonly text: string },
    signal: AbortSignal,
  ): Promise<
    { readonly ok: true; readonly requests: readonly WakeRequests[] } | { readonly ok: false; readonly detail: string }
  >;
  /**
   * If no session starts: the session that runs, or null if `after` lies too far ahead of the
   * log's clock.
   */
  start(
    request: StartSession,
    lists?: EventLists,
  ): Promise<{ ok: true; sessionId: SessionId } | { ok: false; sessionId: SessionId | null }>;
  /**
   * Seats an agent in the running session, without the lead and without asking the gate. If
   * `agent_started` puts it to sleep, no model is asked. Otherwise it is asked for its first words.
   * `over` resolves when it has arrived or failed to.
   */
  bring(payload: AgentPayload): Promise<Brought>;
  /**
   * False if no session runs. Resolves when the end is on disk and all work of the session has
   * stopped.
   */
  end(reason: EndReason): Promise<boolean>;
  /** `more`: goes to the agent with the message, and is not shown. */
  post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome>;
  /**
   * Withdraws a message of the person that its agent has not read. False if it waits nowhere.
   */
  withdraw(messageId: MessageId): Promise<boolean>;
  /** The person has corrected this summary. Agents that hold it go on by the new text. */
  correctSummary(messageId: MessageId, text: string): void;
  /** Stops the agent's current answer. False if it is not answering. */
  stop(agentId: AgentId): Promise<boolean>;
  /**
   * Puts one agent to sleep, or abandons one egg. False if the agent is neither awake nor
   * hatching.
   */
  sleep(agentId: AgentId): Promise<boolean>;
  /**
   * The database did not come back in time. Running answers end with this sentence. The session
   * goes on.
   */
  cutOff(sentence: string): void;
  /** The running session, or null if none runs or it is ending. */
  sessionId(): string | null;
  stateOf(agentId: AgentId): AgentState;
  /** The run of this agent in the session. Null: it is not in it, or only a client drives it. */
  runOf(agentId: AgentId): RunId | null;
  /** These settings apply from each agent's next answer on. False: no session runs. */
  changeSettings(settings: RunningSettings): boolean;
  /** The model that answers for this agent in the session. Null: no session runs. */
  modelOf(agentId: AgentId): string | null;
  /**
   * Delivers the agent's inbox in a turn of its own, with a line that says why. Resolves when the
   * turn is over. False: there was no turn, because the agent is not here or nothing waited.
   */
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  /**
   * An agent that is hatching or has hatched in the running session. Null: it did not. Pages add it
   * to the directory later.
   */
  newborn(agentId: AgentId): Newborn | null;
  /**
   * A client called with this agent's credential. It drives the agent from outside until it has
   * been silent for long.
   */
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  /** This credential was revoked. */
  left(credentialId: string): void;
  /** Requests in the queue of the model server. */
  waiting(): Waiting;
  /**
   * An API client calls this tool for an agent, or a model where `tool` is null. Returns a function
   * that reports the end.
   */
  clientCalls(agentId: AgentId, tool: string | null, input: unknown): () => void;
  /** Called on every change of the queue. Returns a function that unsubscribes. */
  onWaiting(listener: (waiting: Waiting) => void): () => void;
  /** Called when an agent's turn is over. Returns a function that unsubscribes. */
  onTurnEnd(listener: (agentId: AgentId) => void): () => void;
  /**
   * Sets the recorder of wakes by the person. `record` resolves when the wake is decided, and does
   * not reject. `callId`: the call that woke the agent, alone or with others.
   */
  recordPersonWakes(record: (agentId: AgentId, callId: string) => Promise<void>): void;
}

/** What an agent woke with, and what has been said since. */
export interface WokenTalk {
  /** Current value. */
  readonly soul: string | null;
  readonly transcript: string | null;
  /** Time of the last message in the wake payload, ms since the epoch. Null: there was none. */
  readonly asleepSince: number | null;
  /** Oldest first. */
  readonly said: readonly { readonly author: string; readonly time: number; readonly text: string }[];
  /** `said` is complete, and nothing was withdrawn. */
  readonly whole: boolean;
}
