/**
 * What a wake of these agents would read, and its cost, as measured by the relay. The cost of
 * answers is not included.
 */
import { useEffect, useState } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import type { WakeCost as Measured } from '../../../shared/protocol/costs.ts';
import { errorText, problemText } from '../../state/ports.ts';
import { askWakeCost } from '../../state/wake-cost.ts';
import { useRoost } from '../context.tsx';
import { useRehearsing } from '../models/chip.tsx';

export interface WakeCost {
  readonly tokens: number;
  /** Millionths of a dollar; null: the demo costs nothing, or an ACP agent has its own billing. */
  readonly microUsd: number | null;
}

type Asked =
  | { readonly kind: 'asking' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'known'; readonly reads: Measured['reads'] };

export interface WakeCosts {
  /** Why the relay gave no answer; null: it did, or will. */
  readonly problem: string | null;
  /** null: unknown yet. */
  of(agentId: string): WakeCost | null;
  /** The total, including the lead. null: unknown yet. */
  readonly all: WakeCost | null;
}

export function useWakeCosts(agents: readonly Agent[]): WakeCosts {
  const roost = useRoost();
  const rehearsing = useRehearsing();
  const key = agents.map(({ agentId }) => agentId).join();
  const [answered, setAnswered] = useState<{ readonly key: string; readonly asked: Asked }>({
    key: '',
    asked: { kind: 'asking' },
  });
  useEffect(() => {
    let current = true;
    const answer = (asked: Asked) => current && setAnswered({ key, asked });
    if (key !== '')
      askWakeCost(roost, agents).then(
        (result) => {
          if (result === null) answer({ kind: 'known', reads: [] });
          else if (result.ok) answer({ kind: 'known', reads: result.value.reads });
          else answer({ kind: 'failed', text: problemText(result.problem) });
        },
        (error: unknown) => answer({ kind: 'failed', text: errorText(error) }),
      );
    return () => {
      current = false;
    };
  }, [roost, key]);
  const asked: Asked = answered.key === key ? answered.asked : { kind: 'asking' };
  const reads = asked.kind === 'known' ? asked.reads : [];
  const costOf = (some: Measured['reads']): WakeCost | null =>
    some.length === 0
      ? null
      : {
          tokens: some.reduce((sum, { tokens }) => sum + tokens, 0),
          microUsd:
            rehearsing || some.some(({ program }) => program)
              ? null
              : some.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0),
        };
  return {
    problem: asked.kind === 'failed' ? asked.text : null,
    of: (agentId) => costOf(reads.filter((one) => one.agentId === agentId)),
    all: costOf(reads),
  };
}
