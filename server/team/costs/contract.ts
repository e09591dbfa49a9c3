/** Costs of requests, and whether the budget permits another one. */
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Cost } from '../../../src/shared/domain/prices.ts';
import type { RequestSize, Terms, Unreported } from '../../../src/shared/domain/request-cost.ts';
import type { Usage } from '../../../src/shared/protocol/documents.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';

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
 * The requests that this wake would send, measured and not sent. Rejects if they cannot be measured
 * now.
 */
export type SizeOfWake = (
  asked: { readonly start: StartSession; readonly text: string },
  signal: AbortSignal,
) => Promise<
  { readonly ok: true; readonly requests: readonly WakeRequests[] } | { readonly ok: false; readonly detail: string }
>;

/**
 * Usage of one request, as far as the model reported it. Null: the request was sent, and nothing
 * was reported.
 */
export type Took = {
  readonly usage: Usage;
  /** The report is complete. Otherwise the output is unknown. */
  readonly whole: boolean;
  /** The part of the cache writes that lives for an hour. */
  readonly hourCacheWrites?: number;
  /**
   * Cost that an ACP agent reports, in millionths of a dollar. Used where nothing else is known.
   */
  readonly reportedMicroUsd?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  /** The terms that the model reported. */
  readonly terms?: Partial<Terms>;
  /**
   * For an incomplete report: the most tokens that the model can have written, where that is known
   * more precisely than the longest possible answer.
   */
  readonly outputMost?: number;
  /** Usage that the model did not report. Left out: it reported all. */
  readonly untold?: Unreported;
} | null;
