/**
 * What the relay's parts promise each other. Wired together in main.ts; tests wire the same parts.
 */
import type { z } from 'zod';
import type { JoinedClient } from '../src/domain/answering.ts';
import type {
  AgentState,
  MessagePriority,
  SleepEvent,
  TeamEvent,
  WakeLimits,
  WakeReason,
  WakeWay,
} from '../src/domain/guardrails.ts';
import type {
  AgentConfig,
  AgentConfigInput,
  EffectiveConfig,
  HouseholdConfig,
  HouseholdConfigInput,
} from '../src/protocol/config.ts';
import type { EndReason, Usage } from '../src/protocol/documents.ts';
import type { RoostEvent, Snapshot, StoredEvent, Waiting } from '../src/protocol/events.ts';
import type { PostMessage, StartSession } from '../src/protocol/http.ts';
import type { InboxMessage } from '../src/protocol/inbox.ts';
import type { RequestSize, Terms } from '../src/domain/request-cost.ts';
import type { Stamp } from '../src/domain/stamp.ts';
import type { Team, TeamMember } from '../src/protocol/team.ts';
import type { Mind } from './minds/mind.ts';
import type { WakeDecision, WakeFeed, WakeSource, WakeStats } from '../src/protocol/wakes.ts';

/** The durable, append-only log of events. What is answered or shown to anyone was written here first. */
export interface EventLog {
  /** Names this log: another home has another id. */
  readonly id: string;
  /** Resolves when the events are on disk, in order. Appends that come close together share one commit. */
  append(events: readonly RoostEvent[]): Promise<readonly StoredEvent[]>;
  /**
   * As `append`, once per `clientId`: a repeat, also after a restart, writes nothing and answers with the id
   * of the first event that the first call wrote.
   */
  appendOnce(clientId: string, events: readonly RoostEvent[]): Promise<{ eventId: number; repeated: boolean }>;
  /** What is appended from now on is later than this stamp. */
  follow(stamp: Stamp): void;
  /** Does this lie further ahead than a clock may be, of the wall clock and of all that is in the log? */
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

/** Everybody the household has, as the page said last. Names change; ids do not. */
export interface Directory {
  set(team: Team): Promise<void>;
  all(): Promise<readonly TeamMember[]>;
  /** Has a page said who lives here? */
  isTold(): Promise<boolean>;
  /** By id, by name (as people write it, case aside), or by seat ("3", "seat 3"). The reason is a sentence for whoever asked. */
  find(
    reference: string,
  ): Promise<{ readonly ok: true; readonly agent: TeamMember } | { readonly ok: false; readonly reason: string }>;
}

export interface NewInboxMessage {
  readonly messageId: string;
  readonly to: string;
  /** "human", "relay" or an agent's id. */
  readonly from: string;
  readonly text: string;
  readonly time: number;
  readonly priority: MessagePriority;
  readonly threadId: string | null;
}

/** Messages that wait for an agent. They outlive sessions and restarts, and each is put before its agent once. */
export interface Inbox {
  /**
   * A repeat with the same message id changes nothing. Null: it is there. Otherwise why it is not, as a sentence for its sender:
   * an agent's message for which there is no place. `name`: the receiver's, for that sentence.
   */
  put(message: NewInboxMessage, name?: string): Promise<string | null>;
  /** What waits for this agent, oldest first: what the person wrote before all else, then of the others `limit` at most. */
  waiting(agentId: string, limit?: number): Promise<readonly InboxMessage[]>;
  /** How much waits for this agent. */
  count(agentId: string): Promise<number>;
  /**
   * Takes messages to put them before their agent, in this run: an answer's id, or a call's. Gives back those that
   * nobody had taken yet, oldest first, on disk as read.
   */
  claim(
    messageIds: readonly string[],
    read: { readonly sessionId: string | null; readonly run: string; readonly time: number },
  ): Promise<readonly InboxMessage[]>;
  /** Newest first. `before` is a message id. */
  list(
    agentId: string,
    page: { readonly before: string | null; readonly limit: number },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly more: boolean }>;
  unread(): Promise<ReadonlyMap<string, number>>;
  /** What was claimed in this session by answers of the relay. */
  takenIn(sessionId: string): Promise<readonly InboxMessage[]>;
  /** Undoes a claim whose message was not put before anybody. */
  giveBack(messageIds: readonly string[]): Promise<void>;
}

export interface WakeRequest {
  readonly target: string;
  readonly source: WakeSource;
  readonly way: WakeWay;
  readonly reason: WakeReason | null;
  readonly messageId: string | null;
  /** The session in which the caller called, for its budget of `wake_agent`; null: not asked by a tool. */
  readonly callerSession: string | null;
  readonly state: AgentState;
}

/** Whether a wake may pass. It decides and records; it wakes nobody. */
export interface Gate {
  /** Decides, takes quota and records in one transaction. `left`: calls of `wake_agent` that the caller has left in its session, or null. */
  ask(request: WakeRequest): Promise<{ readonly decision: WakeDecision; readonly left: number | null }>;
  /** The session that a granted wake opened is over. */
  ended(wakeId: string): Promise<void>;
  /** Closes what an earlier process of this relay left running. Once, before anything else. */
  recover(): Promise<void>;
  stats(agentId: string): Promise<WakeStats>;
  feed(page: {
    readonly before: string | null;
    readonly limit: number;
    readonly agentId: string | null;
  }): Promise<WakeFeed>;
  close(): Promise<void>;
}

/** What the person has set, with every default filled in. Changes hold at once. */
export interface Configs {
  agent(agentId: string): Promise<{ readonly own: AgentConfig; readonly effective: EffectiveConfig }>;
  household(): Promise<{ readonly own: HouseholdConfig; readonly effective: EffectiveConfig }>;
  setAgent(agentId: string, config: AgentConfigInput): Promise<void>;
  setHousehold(config: HouseholdConfigInput): Promise<void>;
  /** The limits that hold for this agent. */
  limits(agentId: string): Promise<WakeLimits>;
}

/** `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: whoever waits has gone. */
export type SleepWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Sleepers {
  /** A session begins: who is in it is known by `join`. */
  begin(sessionId: string): void;
  /** An agent is in the running session now; its flag is set where `agent_started` is among its sleep events. */
  join(agentId: string): Promise<void>;
  /** Whoever waits is told that the session is over. */
  end(sessionId: string): void;
  isSleeping(agentId: string): boolean;
  /** Null where the session or the agent is not known. `by`: who or what set it, for the event. */
  set(sessionId: string, agentId: string, sleeping: boolean, by: string): Promise<boolean | null>;
  get(sessionId: string, agentId: string): boolean | null;
  /** At once where the agent is not asleep, is not in the session, or no session runs; one that joins just now waits until it is known. `limitMs`: Infinity waits as long as the session. */
  wait(agentId: string, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<SleepWait>;
  /** How many wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: string; readonly agentId: string; readonly sleeping: boolean }) => void,
  ): () => void;
}

/** Who calls a tool: an agent in an answer of its own, or a client that joined with its credential. */
export interface Caller {
  readonly agentId: string;
  readonly sessionId: string | null;
  /** The answer's id, or the call's: what messages that are read now are marked with. */
  readonly run: string;
  readonly kind: 'session' | 'client';
  /** With what a client joined, and whether the person lets it read its agent's soul and last conversation. */
  readonly credential?: { readonly credentialId: string; readonly readsSoul: boolean };
  readonly signal: AbortSignal;
  /** Aborts when the person has written something that waits for the caller: a tool that only waits ends at once. */
  readonly heard?: AbortSignal;
}

export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
  /** The turn ends here: what the person has written comes next. */
  readonly endsTurn?: true;
}

/** A tool that every agent has, wherever it runs: in a session of the relay, or as a client that joined. */
export interface TeamTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It may do nothing but wait: the person's words to the caller end it. */
  readonly waits?: true;
  /** Only for callers of whom this holds; left out: for all. */
  readonly allowed?: (caller: Caller) => Promise<boolean>;
  /** `input` has passed the schema. What the caller did wrong is an outcome with `isError`; it rejects for our own faults only. */
  run(input: unknown, caller: Caller): Promise<ToolOutcome>;
}

/** Room for one request in the budgets. Given back as soon as that request is over, and before tools run on its answer: others may wait for it. */
/** What a request took, as far as its model told it; null: it was sent, and nothing was told. */
export type Took = {
  readonly usage: Usage;
  /** It told all of it. Else what was written is not known. */
  readonly whole: boolean;
  /** The part of the cache writes that stays for an hour. */
  readonly hourCacheWrites?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  readonly terms?: Terms;
  /** Not whole: the most that it wrote, where that is known better than by the longest answer. */
  readonly outputMost?: number;
} | null;

export interface RequestEnd {
  readonly sessionId: string | null;
  /** The answer that the request was for. */
  readonly messageId: string | null;
  readonly via: 'session' | 'proxy';
  readonly took: Took;
}

/** Money that is held for a request, at the most that it may cost. Of `settle` and `release` the first call counts. */
export interface CostHold {
  /**
   * It was sent, and ended without a word of what it took: that is counted at the most that it may be. Whether it may be sent
   * once more: as much is held for that anew, where there is room at once. Where not, the hold is over.
   */
  again(): Promise<boolean>;
  /** It was sent: counts what it took, and of what is not known the most that it may have been. */
  settle(end: RequestEnd): Promise<void>;
  /** It was not sent, or refused: it cost nothing. */
  release(): void;
}

export interface CostRequest {
  readonly agentId: string;
  readonly size: RequestSize;
  /** Whose calls are counted together, beside the agent's. Left out: the session asks. */
  readonly credentialId?: string;
  /** What it is for, as in `RequestEnd`. */
  readonly sessionId?: string | null;
  readonly messageId?: string;
  /** Of a warm-up: nothing goes to a model, and no trace is left. */
  readonly rehearsed?: boolean;
}

export type CostCheck =
  | { readonly ok: true; readonly hold: CostHold }
  /** The message is for the agent and for the person. `until`: when the budget opens again by itself. */
  | { readonly ok: false; readonly message: string; readonly until: number };

export interface Costs {
  /**
   * Whether another request of this agent may be sent now. Where it might, with what is under way, go past what is left
   * of a budget, or too many are under way, it waits for one of those to end first. Rejects with the signal's reason once
   * that aborts.
   */
  check(request: CostRequest, signal?: AbortSignal): Promise<CostCheck>;
}

/**
 * What happens in threads that others must hear of. Called after it is on disk, in order, one at a time: nothing further
 * is written in any thread until it has resolved, so it must not wait for what it sets off. What `added` and
 * `mentioned` resolve with is a sentence for whoever did it, about the wake that was asked for; null: none was. Both may
 * be called again for the same happening, after a crash.
 */
export interface ThreadHooks {
  added(change: {
    readonly threadId: string;
    readonly title: string;
    readonly agentId: string;
    readonly by: string;
    /** How often it has been added to this thread, this time included. */ readonly times: number;
  }): Promise<string | null>;
  mentioned(change: {
    readonly threadId: string;
    readonly title: string;
    readonly agentId: string;
    readonly by: string;
    readonly messageId: string;
    readonly text: string;
  }): Promise<string | null>;
  /** Messages that mention it were put before it in the thread itself: they need not be put before it once more. */
  mentionsRead(change: {
    readonly threadId: string;
    readonly agentId: string;
    readonly messageIds: readonly string[];
    readonly run: string;
  }): Promise<void>;
  /** It is in no open thread any more: it was removed, or the last one was closed. */
  leftLast(change: {
    readonly agentId: string;
    readonly event: Extract<SleepEvent, 'removed_from_last_thread' | 'last_thread_closed'>;
  }): Promise<void>;
}

/** What the relay's other parts ask of whoever wakes agents. The only road to the gate. */
export interface Reach {
  /** Puts a message into the inbox, and asks for a wake where the priority does. */
  message(
    caller: { readonly agentId: string; readonly sessionId: string | null },
    message: { readonly to: string; readonly text: string; readonly priority: MessagePriority },
  ): Promise<ToolOutcome>;
  wake(
    caller: { readonly agentId: string; readonly sessionId: string | null },
    message: { readonly to: string; readonly text: string; readonly reason: WakeReason },
  ): Promise<ToolOutcome>;
  /** Asks the gate and, where it lets it pass, wakes. */
  ask(request: Omit<WakeRequest, 'state'>): Promise<{ readonly decision: WakeDecision; readonly left: number | null }>;
  /** One happening, by every name it has: it may wake an agent or put it to sleep, by the agent's own lists. */
  happened(
    agentId: string,
    events: readonly TeamEvent[],
    about: { readonly by: string; readonly messageId: string | null },
  ): Promise<void>;
}
export type { AgentState };

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

/** The one session a relay can run, and everything that happens in it. */
export interface SessionHost {
  /** Closes what a crash left open: answers as `interrupted`, the session as `crash`. Call once, before anything else. */
  recover(): Promise<void>;
  /** Runs a few wakes of nobody, answered by this mind, so that the first need not pay for what is made at first use. Leaves no trace. */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /** Where it is not started: the session that runs, or null where `after` lies too far ahead of the log’s clock. */
  start(request: StartSession): Promise<{ ok: true; sessionId: string } | { ok: false; sessionId: string | null }>;
  /** False where no session runs. Resolves when the end is on disk and nothing of the session runs on. */
  end(reason: EndReason): Promise<boolean>;
  post(message: PostMessage): Promise<PostOutcome>;
  /** Stops what this agent is saying. False where it is not saying anything. */
  stop(agentId: string): Promise<boolean>;
  /** Puts one agent to sleep, or gives up one egg, by agent id. False where it is neither awake nor hatching. */
  sleep(agentId: string): Promise<boolean>;
  /** The session that runs and is not ending, or null. */
  sessionId(): string | null;
  stateOf(agentId: string): AgentState;
  /**
   * Puts before an agent what waits in its inbox, in a turn of its own, with a line that says why. Resolves when that turn is over; false
   * where there was no turn: it is not here, or nothing waited.
   */
  rouse(agentId: string, why?: string): Promise<boolean>;
  /** A client has called with this agent's credential: it plays the agent from elsewhere, until it is silent for long. */
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  /** This credential was revoked. */
  left(credentialId: string): void;
  /** Who waits in line before the model's server. */
  waiting(): Waiting;
  /** Called whenever that changes. Returns the way to stop. */
  onWaiting(listener: (waiting: Waiting) => void): () => void;
  /** Called when an agent's turn is over. */
  onTurnEnd(listener: (agentId: string) => void): () => void;
}
