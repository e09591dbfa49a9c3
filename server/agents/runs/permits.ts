/**
 * When a request of an agent may be sent: not while it is set to sleep, and not beyond its budget.
 */
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { Costs } from '../../contracts/index.ts';
import type { Permit } from './answer.ts';
import { isAway } from '../../store/index.ts';
import type { Rest } from './context.ts';

export interface Permits {
  /**
   * Nothing is asked of a mind, and no tool is run, while the agent is set to sleep. False: nothing
   * may be any more.
   */
  untilResumed(signal: AbortSignal): Promise<boolean>;
  /** For one request, of the answer `messageId`; waits as long as it has to. */
  next(size: RequestSize, messageId: MessageId, signal: AbortSignal): Promise<Permit>;
}

export interface PermitDeps {
  readonly rest: Rest;
  readonly costs: Pick<Costs, 'check'>;
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  /** What a request took could not be written. */
  readonly onError: (error: unknown) => void;
}

export function createPermits({ rest, costs, agentId, sessionId, onError }: PermitDeps): Permits {
  const untilResumed: Permits['untilResumed'] = (signal) => rest.untilResumed(agentId, signal);
  return {
    untilResumed,
    async next(size, messageId, signal) {
      for (;;) {
        if (!(await untilResumed(signal)) || signal.aborted) return { ok: false, reason: null };
        try {
          const check = await costs.check({ agentId, size, sessionId, messageId }, signal);
          if (!check.ok) return { ok: false, reason: check.message };
          const { hold } = check;
          if (!rest.isPaused(agentId))
            return {
              ok: true,
              again: () =>
                hold.again().catch((error: unknown) => {
                  // Where nothing can be held for it, it is not sent again.
                  if (!signal.aborted && !isAway(error)) onError(error);
                  return false;
                }),
              settle: (took) => hold.settle({ sessionId, messageId, via: 'session', took }).catch(onError),
              spent: () => hold.spent(),
              release: () => hold.release(),
            };
          // It was set to sleep while it waited for others to end.
          hold.release();
        } catch (error) {
          if (signal.aborted) return { ok: false, reason: null };
          throw error;
        }
      }
    },
  };
}
