/** The session, as everything around it sees it. */
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
import type { InboxMessage } from '../../src/shared/protocol/inbox.ts';
import type { Team, TeamMember } from '../../src/shared/protocol/team.ts';
import type { JoinedClient } from '../../src/shared/domain/answering.ts';
import type { AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import type { EffectiveConfig } from '../../src/shared/protocol/config.ts';
import type { EndReason } from '../../src/shared/protocol/documents.ts';
import type { Waiting } from '../../src/shared/protocol/stream.ts';
import type { PostMessage, StartSession } from '../../src/shared/protocol/http.ts';
import type { GateAnswer, WakePermit, WakeRequest } from './gate.ts';
import type { ToolOutcome } from './tools.ts';
import type { Mind } from './mind.ts';

// How what happens between agents wakes one of them.

/**
 * What happens in threads that others must hear of. Called after it is on disk, in order, one at a
 * time: nothing further is written in any thread until it has resolved, so it must not wait for
 * what it sets off. What `added` and `mentioned` resolve with is a sentence for whoever did it,
 * about the wake that was asked for; null: none was. Both may be called again for the same
 * happening, after a crash.
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
   * Messages that mention it were put before it in the thread itself: they need not be put before
   * it once more.
   */
  mentionsRead(change: {
    readonly threadId: ThreadId;
    readonly agentId: AgentId;
    readonly messageIds: readonly MessageId[];
    readonly run: string;
  }): Promise<void>;
  /** It is in no open thread any more: it was removed, or the last one was closed. */
  leftLast(change: {
    readonly agentId: AgentId;
    readonly event: Extract<SleepEvent, 'removed_from_last_thread' | 'last_thread_closed'>;
  }): Promise<void>;
}

interface WakeAnswer extends Omit<GateAnswer, 'permit'> {
  /** Whether the message reached its agent: of what was due, once it is granted. Never rejects. */
  readonly over?: Promise<Reached>;
}

/** `until`: ms since the epoch when it can be tried again; null: not known. */
export interface NotReached {
  readonly reached: false;
  readonly reason: SkipReason;
  /** A sentence for people; null: the reason says it. */
  readonly detail: string | null;
  readonly until: number | null;
}
/** Whether an agent has read the message that it was woken for. */
export type Reached = { readonly reached: true } | NotReached;

/**
 * What was due and wakes its agent: a reminder, or a script that has failed. `status`: how that
 * ended.
 */
export type DueCause = { readonly scheduleId: ScheduleId; readonly name: string; readonly given: GivenBefore } & (
  | { readonly kind: 'reminder' }
  | { readonly kind: 'script'; readonly status: string }
);
/**
 * What an agent is given of before when it is set to work. `before`: what it said at the end of
 * runs, the oldest first.
 */
export interface GivenBefore {
  readonly lastSession: boolean;
  readonly before: readonly { readonly at: number; readonly said: string }[];
}

/**
 * A wake as it is asked for. `due`: a run for it is one of that kind, and of what was scheduled.
 */
export type WakeAsked = Omit<WakeRequest, 'state' | 'alone' | 'oneAtATime'> & { readonly due?: DueCause | undefined };

/** A permit for work that the caller does itself. Its `release` never rejects. */
export interface CallersPermit extends WakePermit {
  /** Releases the permit when `work` is over. Logs the error of work that fails. */
  releaseAfter(work: Promise<unknown>): void;
}

/** Agents at work in no session, for whoever wakes them. */
export interface Alone {
  /** The relay has what this agent needs to be at work alone. */
  can(agentId: AgentId): Promise<boolean>;
  /**
   * What became of a wake of this agent that was granted then. `begins`: a process is about to
   * begin a run; `cut-off`: it ended over that.
   */
  carried(agentId: AgentId, grantedAt: number): Promise<'no' | 'begins' | 'cut-off' | 'yes'>;
  /** Sets it to work with what waits in its inbox. Resolves when that is over. */
  wake(
    agentId: AgentId,
    by: {
      readonly name: string;
      readonly reason: string | null;
      readonly why: string;
      readonly due?: DueCause | undefined;
      /**
       * For which it is woken: where it has read that by its turn, nothing begins. Left out: for
       * none.
       */
      readonly messageId?: MessageId | null;
    },
  ): Promise<Reached>;
}

/** What the relay's other parts ask of whoever wakes agents. The only road to the gate. */
export interface Reach {
  /** Puts a message into the inbox, and asks for a wake where the priority does. */
  message(
    caller: { readonly agentId: AgentId; readonly sessionId: SessionId | null },
    message: {
      readonly to: string;
      readonly text: string;
      readonly priority: MessagePriority;
      /** Left out: it says nothing of what it is for. */
      readonly type?: MessageType;
    },
  ): Promise<ToolOutcome>;
  wake(
    caller: { readonly agentId: AgentId; readonly sessionId: SessionId | null; readonly runId?: RunId },
    message: { readonly to: string; readonly text: string; readonly reason: WakeReason },
  ): Promise<ToolOutcome>;
  /**
   * Asks the gate and, where it lets it pass, wakes: in the session where the agent is in it, alone
   * where it can be.
   */
  ask(request: WakeAsked): Promise<WakeAnswer>;
  /**
   * Clears the sleeping flag of an agent that is set to sleep, in turn: where the gate stops it, it
   * is asked for again until it passes, or the agent is awake otherwise. `only`: what it waits for;
   * left out: whatever stops it. `cleared` resolves with whether it is awake.
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
   * One happening, by every name it has: it may wake an agent or put it to sleep, by the agent's
   * own lists.
   */
  happened(
    agentId: AgentId,
    events: readonly TeamEvent[],
    about: { readonly by: string; readonly messageId: MessageId | null },
  ): Promise<void>;
}

// Who there is, and what waits for them.

/** Everybody the household has, as the page said last. Names change; ids do not. */
export interface Directory {
  set(team: Team): Promise<void>;
  all(): Promise<readonly TeamMember[]>;
  /** Has a page said who lives here? */
  isAnnounced(): Promise<boolean>;
  /**
   * By id, by name (as people write it, case aside), or by seat ("3", "seat 3"). The reason is a
   * sentence for whoever asked.
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
   * Of the person's held in memory until they are claimed: the text names them, for whoever reads
   * it after a restart. Of the relay's kept with the message, as far as there is room.
   */
  readonly attachments?: readonly SentAttachment[];
}

/** As it is put before its agent. */
export interface TakenMessage extends InboxMessage {
  readonly attachments?: readonly SentAttachment[];
}

/**
 * Messages that wait for an agent. They outlive sessions and restarts, and each is put before its
 * agent once.
 */
export interface Inbox {
  /**
   * A repeat with the same message id changes nothing. Null: it is there. Otherwise why it is not,
   * as a sentence for its sender: an agent's message for which there is no place. `name`: the
   * receiver's, for that sentence.
   */
  put(message: NewInboxMessage, name?: string): Promise<string | null>;
  /**
   * What waits for this agent, oldest first: what the person wrote before all else, then of the
   * others `limit` at most.
   */
  waiting(agentId: AgentId, limit?: number): Promise<readonly InboxMessage[]>;
  /** How much waits for this agent. */
  count(agentId: AgentId): Promise<number>;
  /** `null`: there is no such message, or it was read long ago. */
  standing(messageId: MessageId): Promise<'waits' | 'read' | null>;
  /** Takes back a message that an agent left for itself. False where it does not wait any more. */
  withdraw(messageId: MessageId): Promise<boolean>;
  /**
   * Takes messages to put them before their agent, in this run: an answer's id, or a call's.
   * `readIn`: the session, of a run in none that run; null: by a client, beside both. Gives back
   * those that nobody had taken yet, oldest first, on disk as read.
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
  /** What was claimed in this session, or in this run of none, by answers of the relay. */
  takenIn(readIn: SessionId | RunId): Promise<readonly InboxMessage[]>;
  /** The person takes back what they wrote. False where it does not wait here any more. */
  takeBack(messageId: MessageId): Promise<boolean>;
  /** Undoes a claim whose message was not put before anybody. */
  giveBack(messageIds: readonly MessageId[]): Promise<void>;
}

export type PostOutcome =
  | { readonly ok: true; readonly eventId: number }
  | {
      readonly ok: false;
      readonly reason: 'no-session' | 'already-awake' | 'unknown-agent' | 'malformed' | 'not-last' | 'too-large';
      readonly detail: string;
    };

/** Who plays an agent: a credential, and how it was used. */
export interface CallingClient extends JoinedClient {
  readonly credentialId: string;
}

/** By what happens an agent is put to sleep, and woken. */
export type TeamEvents = Pick<EffectiveConfig['coordination'], 'sleep_events' | 'wake_events'>;
/** By agent; what is left out is the agent's own. */
export type EventLists = ReadonlyMap<AgentId, Partial<TeamEvents>>;

export type Brought =
  | { readonly ok: true; readonly over: Promise<void> }
  | { readonly ok: false; readonly detail: string };

/** The requests of one agent, in order. Each begins with all of the one before it. */
export interface WakeRequests {
  readonly agentId: AgentId;
  readonly model: string;
  /** UTF-8 bytes of each. */
  readonly bytes: readonly number[];
}

/**
 * What an agent did alone since then, as a note for its mind, and up to when that tells; null:
 * nothing. `asleep`: it wakes with it. Never rejects.
 */
export type Meanwhile = (
  agentId: AgentId,
  since: number,
  asleep: boolean,
) => Promise<{ readonly text: string; readonly upTo: number } | null>;

/** The one session a relay can run, and everything that happens in it. */
/** An agent of this session that the directory need not know yet. */
export interface Newborn {
  readonly member: TeamMember;
  /**
   * What an ACP agent that drives it may call over MCP before the birth is complete; null: it is
   * born, and may call what all may.
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
   * Runs a few wakes of nobody, answered by this mind, so that the first need not pay for what is
   * made at first use. Leaves no trace.
   */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /**
   * The requests that this call would send, measured and not sent. `start` counts where no session
   * runs. Rejects where it cannot be measured now.
   */
  sizeOfWake(
    asked: { readonly start: StartSession; readonly text: string },
    signal: AbortSignal,
  ): Promise<
    { readonly ok: true; readonly requests: readonly WakeRequests[] } | { readonly ok: false; readonly detail: string }
  >;
  /**
   * Where it is not started: the session that runs, or null where `after` lies too far ahead of the
   * log’s clock.
   */
  start(
    request: StartSession,
    lists?: EventLists,
  ): Promise<{ ok: true; sessionId: SessionId } | { ok: false; sessionId: SessionId | null }>;
  /**
   * Seats an agent in the running session, without the lead and without asking the gate. Where
   * `agent_started` puts it to sleep it rests, and no model is asked; else it is asked for its
   * first words. `over` resolves when it is here, or is not.
   */
  bring(payload: AgentPayload): Promise<Brought>;
  /**
   * False where no session runs. Resolves when the end is on disk and nothing of the session runs
   * on.
   */
  end(reason: EndReason): Promise<boolean>;
  post(message: PostMessage): Promise<PostOutcome>;
  /**
   * Takes back a message of the person's that its agent has not read. False where it waits nowhere.
   */
  takeBack(messageId: MessageId): Promise<boolean>;
  /** Stops what this agent is saying. False where it is not saying anything. */
  stop(agentId: AgentId): Promise<boolean>;
  /**
   * Puts one agent to sleep, or gives up one egg, by agent id. False where it is neither awake nor
   * hatching.
   */
  sleep(agentId: AgentId): Promise<boolean>;
  /**
   * The database was waited for in vain: what is being said ends with this sentence. The session
   * goes on.
   */
  cutOff(sentence: string): void;
  /** The session that runs and is not ending, or null. */
  sessionId(): string | null;
  stateOf(agentId: AgentId): AgentState;
  /** The model that answers for this agent in the session; null: none runs. */
  modelOf(agentId: AgentId): string | null;
  /**
   * Puts before an agent what waits in its inbox, in a turn of its own, with a line that says why.
   * Resolves when that turn is over; false where there was no turn: it is not here, or nothing
   * waited.
   */
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  /**
   * An agent that hatches or has hatched in the session that runs; null: it is none. Pages have the
   * directory know it later.
   */
  newborn(agentId: AgentId): Newborn | null;
  /**
   * A client has called with this agent's credential: it plays the agent from elsewhere, until it
   * is silent for long.
   */
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  /** This credential was revoked. */
  left(credentialId: string): void;
  /** Who waits in line before the model's server. */
  waiting(): Waiting;
  /**
   * An API client calls this tool for an agent, or, where it is null, a model. Returns the way to
   * tell its end.
   */
  clientCalls(agentId: AgentId, tool: string | null, input: unknown): () => void;
  /** Called whenever that changes. Returns the way to stop. */
  onWaiting(listener: (waiting: Waiting) => void): () => void;
  /** Called when an agent's turn is over. */
  onTurnEnd(listener: (agentId: AgentId) => void): () => void;
  /**
   * Who keeps the record of what the person wakes. `record` resolves when it is decided, and does
   * not reject. `callId`: of the call that woke it, with others or alone.
   */
  recordPersonWakes(record: (agentId: AgentId, callId: string) => Promise<void>): void;
}

/** What an agent woke with, and what was said since. */
export interface WokenTalk {
  /** As it is now. */
  readonly soul: string | null;
  readonly transcript: string | null;
  /**
   * ms since the epoch when the last thing was said that it was told with its wake; null: nothing.
   */
  readonly asleepSince: number | null;
  /** Oldest first. */
  readonly said: readonly { readonly author: string; readonly time: number; readonly text: string }[];
  /** `said` holds all of it, and nothing was taken back. */
  readonly whole: boolean;
}
