/** What requests cost, and whether another may be sent. */
import type { AgentId, MessageId, SessionId } from '../../src/domain/ids.ts';
import type { Cost } from '../../src/domain/prices.ts';
import type { RequestSize, Terms, Untold } from '../../src/domain/request-cost.ts';
import type { Usage } from '../../src/protocol/documents.ts';

/** What a request took, as far as its model told it; null: it was sent, and nothing was told. */
export type Took = {
  readonly usage: Usage;
  /** It told all of it. Else what was written is not known. */
  readonly whole: boolean;
  /** The part of the cache writes that stays for an hour. */
  readonly hourCacheWrites?: number;
  /** Millionths of a dollar that a program says it cost, where nothing else is known. */
  readonly reportedMicroUsd?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  /** As far as it told them. */
  readonly terms?: Partial<Terms>;
  /** Not whole: the most that it wrote, where that is known better than by the longest answer. */
  readonly outputMost?: number;
  /** What its model said nothing of; left out: it told both. */
  readonly untold?: Untold;
} | null;

export interface RequestEnd {
  readonly sessionId: SessionId | null;
  /** The answer that the request was for. */
  readonly messageId: MessageId | null;
  readonly via: 'session' | 'proxy';
  readonly took: Took;
}

/**
 * Money that is held for a request, at the most that it may cost. Given back as soon as that request is over, and before tools run
 * on its answer: others may wait for it. Of `settle` and `release` the first call counts.
 */
export interface CostHold {
  /**
   * It was sent, and ended without a word of what it took: that is counted at the most that it may be. Whether it may be sent
   * once more: as much is held for that anew, where there is room at once. Where not, the hold is over.
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
