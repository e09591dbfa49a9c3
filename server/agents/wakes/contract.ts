/** How other parts of the relay wake agents, and what runs them outside a session. */
import type { GateAnswer, WakePermit, WakeRequest } from '../../team/gate/contract.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import type {
  GateCheck,
  MessagePriority,
  MessageType,
  TeamEvent,
  WakeReason,
} from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, ScheduleId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { SkipReason } from '../../../src/shared/domain/schedule/timing.ts';

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
export interface Wakes {
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
