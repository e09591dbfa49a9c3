/** The gate decides whether a wake may pass. It applies the configured limits. */
import type { Verdict } from '../../../src/shared/domain/wake-gate.ts';
import type { AgentState, WakeReason, WakeWay } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { WakeDecision, WakeFeed, WakeSource, WakeStats } from '../../../src/shared/protocol/wakes.ts';

export interface WakeRequest {
  readonly target: string;
  readonly source: WakeSource;
  readonly way: WakeWay;
  readonly reason: WakeReason | null;
  readonly messageId: MessageId | null;
  /**
   * The calling session, or the calling run where there is no session. Its budget of `wake_agent`
   * is charged. Null: no tool asked for this wake.
   */
  readonly callerSession: SessionId | RunId | null;
  readonly state: AgentState;
  /** The call of the team that caused this wake. Left out: no call did. */
  readonly callId?: string;
  /** The agent can work alone, outside a session. */
  readonly alone?: boolean;
  /** The person chose this moment, so blackouts do not apply. */
  readonly inDark?: boolean;
  /** The agent is busy while a session that a wake opened runs. */
  readonly oneAtATime?: boolean;
  /**
   * A repeated request. Only a grant is recorded. `deferred`: everything is recorded except another
   * deferral.
   */
  readonly quiet?: boolean | 'deferred';
  /** When the wake was first requested, ms since the epoch. Left out: now. */
  readonly since?: number;
  /**
   * When an earlier request was granted, ms since the epoch, and nothing has begun for it. The wake
   * is already counted, so limits on the number of wakes do not apply.
   */
  readonly grantedAt?: number | undefined;
}

/**
 * A wake that may begin. It counts as a running session of its agent until it is released. When a
 * relay dies, the gate of the next one releases what it left: see `recover`.
 */
export interface WakePermit {
  /** The work is over, or does not begin after all. Only the first call counts. */
  release(): Promise<void>;
}

export interface GateAnswer {
  readonly decision: WakeDecision;
  /** Calls of `wake_agent` that the caller has left in its session, or null. */
  readonly left: number | null;
  /** Null: the wake was not granted. */
  readonly permit: WakePermit | null;
}

/** Decides whether a wake may pass, and records the decision. It wakes no agent. */
export interface Gate {
  /** Decides, takes quota and records in one transaction. The caller releases the permit. */
  ask(request: WakeRequest): Promise<GateAnswer>;
  /** The earlier grant for this message, by any process; null: none. */
  granted(wake: { readonly target: string; readonly messageId: MessageId }): Promise<WakeDecision | null>;
  /**
   * Granted wakes for a message that were requested since then, and those that wait until their
   * agent is free. `isLeft`: an earlier process died during this wake.
   */
  open(since: number): Promise<readonly (WakeDecision & { readonly isLeft: boolean })[]>;
  /**
   * Releases the wakes that an earlier process of this relay left running. Called once, before
   * anything else.
   */
  recover(): Promise<void>;
  stats(agentId: AgentId): Promise<WakeStats>;
  /** How the gate would answer a routine of this agent now. Nothing is recorded. */
  wouldBegin(agentId: AgentId): Promise<Verdict>;
  feed(page: {
    readonly before: string | null;
    readonly limit: number;
    readonly agentId: AgentId | null;
  }): Promise<WakeFeed>;
  close(): Promise<void>;
}
