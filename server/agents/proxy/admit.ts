/**
 * Whether a request may go to the model: once its agent is awake and the budgets have room, in one
 * moment.
 */
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { Configs, CostHold, CostRequest, Costs, Pauses } from '../../contracts/index.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { ProxyError } from './errors.ts';

type Admission =
  | { readonly kind: 'go'; readonly hold: CostHold | null }
  | { readonly kind: 'refused'; readonly error: ProxyError }
  /** Whoever asked does not wait any more. */
  | { readonly kind: 'gone' };

export interface AdmitDeps {
  readonly pauses: Pick<Pauses, 'isPaused' | 'wait'>;
  readonly costs: Pick<Costs, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly sessionId: () => string | null;
  readonly now: () => number;
}

/** `size`: null where it costs nothing. */
export type Admit = (request: {
  readonly agent: TeamMember;
  readonly credentialId: string;
  readonly size: RequestSize | null;
  readonly signal: AbortSignal;
}) => Promise<Admission>;

export function createAdmit({ pauses, costs, configs, sessionId, now }: AdmitDeps): Admit {
  /** Null: awake. */
  async function rest(
    { agentId, name }: TeamMember,
    since: number,
    signal: AbortSignal,
  ): Promise<Exclude<Admission, { kind: 'go' }> | null> {
    if (!pauses.isPaused(agentId)) return null;
    const { effective } = await configs.agent(agentId);
    const how = await pauses.wait(agentId, { signal, limitMs: since + effective.sleep_wait_seconds * 1_000 - now() });
    switch (how) {
      case 'awake':
        return null;
      case 'late':
        return {
          kind: 'refused',
          error: {
            kind: 'asleep',
            message: `${name} is asleep, try again: the request was held for ${effective.sleep_wait_seconds} s, and nothing was sent to the model.`,
          },
        };
      case 'ended':
        return {
          kind: 'refused',
          error: {
            kind: 'session-ended',
            message: `The session ended while ${name} was asleep; nothing was sent to the model.`,
          },
        };
      case 'aborted':
        return { kind: 'gone' };
      default:
        return how satisfies never;
    }
  }

  async function room(request: CostRequest, signal: AbortSignal): Promise<Admission> {
    try {
      const checked = await costs.check(request, signal);
      return checked.ok
        ? { kind: 'go', hold: checked.hold }
        : { kind: 'refused', error: { kind: 'budget-used-up', message: checked.message } };
    } catch (error) {
      if (signal.aborted) return { kind: 'gone' };
      throw error;
    }
  }

  return async ({ agent, credentialId, size, signal }) => {
    const since = now();
    for (;;) {
      const held = await rest(agent, since, signal);
      if (held) return held;
      const admission: Admission = size
        ? await room({ agentId: agent.agentId, credentialId, size, sessionId: sessionId() }, signal)
        : { kind: 'go', hold: null };
      if (admission.kind !== 'go') return admission;
      // Nothing is awaited between here and the request, so an agent that was just set to sleep
      // sends none.
      if (!signal.aborted && !pauses.isPaused(agent.agentId)) return admission;
      admission.hold?.release();
      if (signal.aborted) return { kind: 'gone' };
    }
  };
}
