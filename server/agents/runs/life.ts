/** The life of one run in the log. It begins once and ends once, with one outcome and its usage. */
import type { AgentId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import { usageSchema, type Usage } from '../../../src/shared/protocol/documents.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import type { RunCause, RunOutcome } from '../../../src/shared/protocol/runs.ts';
import { addCost, NO_COST, type Cost } from '../../../src/shared/domain/prices.ts';

export interface RunEnd extends Cost {
  readonly outcome: RunOutcome;
  /** A sentence for people; null: nothing to report. */
  readonly reason: string | null;
  readonly usage: Usage | null;
}

export interface Life {
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly cause: RunCause;
  /** The event to write at its start. */
  started(): EventOf<'run-started'>;
  /** Adds the usage and cost of one of its requests. */
  took(usage: Usage | null, cost: Cost): void;
  /** The event to write at its end; empty: it has not begun, or has already ended. */
  ended(outcome: RunOutcome, reason: string | null): readonly EventOf<'run-ended'>[];
  /** Another relay believed this one dead and ended the run. */
  endedElsewhere(end: RunEnd): void;
  /** How it ended; null: it has not. */
  end(): RunEnd | null;
}

export interface LifeDeps {
  readonly runId: RunId;
  readonly agentId: AgentId;
  /** Null: it is in no session. */
  readonly sessionId: SessionId | null;
  readonly cause: RunCause;
  /** ms since the epoch */
  readonly now: () => number;
}

export function createLife({ runId, agentId, sessionId, cause, now }: LifeDeps): Life {
  let begun = false;
  let end: RunEnd | null = null;
  let usage: Usage | null = null;
  let spent = NO_COST;
  return {
    runId,
    agentId,
    cause,
    started() {
      begun = true;
      return { kind: 'run-started', time: now(), runId, agentId, sessionId, cause };
    },
    took(more, cost) {
      usage = addUsage(usage, more);
      spent = addCost(spent, cost);
    },
    ended(outcome, reason) {
      if (!begun || end) return [];
      // If the log refused the end because of its usage, the run would never end.
      end = { outcome, reason, usage: usageSchema.safeParse(usage).success ? usage : null, ...spent };
      return [{ kind: 'run-ended', time: now(), runId, agentId, sessionId, ...end }];
    },
    endedElsewhere({ outcome, reason, usage, costMicroUsd, estimated }) {
      end = { outcome, reason, usage, costMicroUsd, estimated };
    },
    end: () => end,
  };
}

/** The sum of both in tokens, with the later model. */
export function addUsage(total: Usage | null, more: Usage | null): Usage | null {
  if (!total || !more) return total ?? more;
  return {
    model: more.model,
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    cacheReadTokens: total.cacheReadTokens + more.cacheReadTokens,
    cacheWriteTokens: total.cacheWriteTokens + more.cacheWriteTokens,
  };
}
