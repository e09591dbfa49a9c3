/** How what happens between agents wakes one of them. */
import type {
  GateCheck,
  MessagePriority,
  MessageType,
  SleepEvent,
  TeamEvent,
  WakeReason,
} from '../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, ScheduleId, SessionId, ThreadId } from '../../src/shared/domain/ids.ts';
import type { SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import type { WakeDecision } from '../../src/shared/protocol/wakes.ts';
import type { WakeRequest } from './gate.ts';
import type { ToolOutcome } from './tools.ts';

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

interface WakeAnswer {
  readonly decision: WakeDecision;
  /** Calls of `wake_agent` that the caller has left in its session, or null. */
  readonly left: number | null;
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
   * As `ask`. The caller carries out a granted wake itself, by `carry`; the wake is over when that
   * resolves.
   */
  askTo(request: WakeAsked, carry: () => Promise<void>): Promise<WakeAnswer>;
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
