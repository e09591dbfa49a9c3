/**
 * Decides when a request of an agent may be sent: only while the agent is not paused, and within
 * its budget.
 */
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Cost } from '../../../src/shared/domain/prices.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { Costs, Took } from '../../team/costs/contract.ts';
import { isAway } from '../../store/index.ts';
import {
  type AgentMind,
  type Mind,
  type MindAnswer,
  type MindListener,
  type MindRequest,
  tookOf,
} from '../minds/index.ts';
import type { Rest } from './context.ts';

/**
 * Permission to send one request. The first call of `settle` (the request was sent) or `release`
 * (it was not) counts. `again` and `spent` are as in `CostHold`. `reason` is a sentence for people
 * that ends the answer; null: the answer was interrupted.
 */
export type Permit =
  | {
      readonly ok: true;
      again(): Promise<boolean>;
      settle(took: Took): Promise<void>;
      spent(): Cost;
      release(): void;
    }
  | { readonly ok: false; readonly reason: string | null };

/**
 * Sends a request and settles its permit. A request that ended without a usage report was counted
 * when it ended. One that was abandoned before its first report is counted here.
 */
export async function answerBy(
  permit: Extract<Permit, { ok: true }>,
  mind: Pick<Mind, 'answer'> & Partial<Pick<AgentMind, 'counts'>>,
  request: MindRequest,
  listener: Omit<MindListener, 'onLost'>,
): Promise<MindAnswer> {
  // This mind reserves and counts its requests itself. A second reservation here would wait for the
  // first.
  if (mind.counts === 'itself') permit.release();
  const answer = await mind
    .answer(request, { ...listener, onLost: () => permit.again() })
    .catch(async (error: unknown) => {
      // The request may have been sent. Without a known usage, its highest possible cost is
      // counted.
      await permit.settle(null);
      throw error;
    });
  const took = tookOf(request.model, answer);
  if (took === 'nothing') permit.release();
  else await permit.settle(took);
  return answer;
}

export interface Permits {
  /**
   * Waits while the agent is paused: then nothing is asked of its mind and no tool runs. False:
   * nothing may be asked any more.
   */
  untilResumed(signal: AbortSignal): Promise<boolean>;
  /**
   * Returns the permit for one request of the answer `messageId`, after waiting as long as
   * necessary. `mostMicroUsd`: the request is refused if it may cost more. Left out: it is not.
   */
  next(size: RequestSize, messageId: MessageId, signal: AbortSignal, mostMicroUsd?: number): Promise<Permit>;
}

export interface PermitDeps {
  readonly rest: Rest;
  readonly costs: Pick<Costs, 'check'>;
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly runId: RunId;
  /** The usage of a request could not be written. */
  readonly onError: (error: unknown) => void;
}

export function createPermits({ rest, costs, agentId, sessionId, runId, onError }: PermitDeps): Permits {
  const untilResumed: Permits['untilResumed'] = (signal) => rest.untilResumed(agentId, signal);
  return {
    untilResumed,
    async next(size, messageId, signal, mostMicroUsd) {
      for (;;) {
        if (!(await untilResumed(signal)) || signal.aborted) return { ok: false, reason: null };
        try {
          const check = await costs.check(
            { agentId, size, sessionId, messageId, runId, ...(mostMicroUsd === undefined ? {} : { mostMicroUsd }) },
            signal,
          );
          if (!check.ok) return { ok: false, reason: check.message };
          const { hold } = check;
          if (!rest.isPaused(agentId))
            return {
              ok: true,
              again: () =>
                hold.again().catch((error: unknown) => {
                  // If its cost cannot be reserved, the request is not repeated.
                  if (!signal.aborted && !isAway(error)) onError(error);
                  return false;
                }),
              settle: (took) => hold.settle({ sessionId, messageId, via: 'session', took }).catch(onError),
              spent: () => hold.spent(),
              release: () => hold.release(),
            };
          // The agent was paused while the request waited for others.
          hold.release();
        } catch (error) {
          if (signal.aborted) return { ok: false, reason: null };
          throw error;
        }
      }
    },
  };
}
