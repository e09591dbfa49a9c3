/** The way of one wake through the checks. Pure. */
import { GATE_CHECKS, type GateCheck } from '../../domain/guardrails.ts';
import type { WakeDecision } from '../../protocol/wakes.ts';

/** `waived`: the person's own wake, which no check refuses; `beyond`: not reached. */
export type StepState = 'passed' | 'stopped' | 'beyond' | 'waived';

export interface Step {
  readonly check: GateCheck;
  readonly state: StepState;
}

export function pathOf({
  check,
  outcome,
  source,
}: Pick<WakeDecision, 'check' | 'outcome' | 'source'>): readonly Step[] {
  const at = check === null ? GATE_CHECKS.length : GATE_CHECKS.indexOf(check);
  return GATE_CHECKS.map((each, i): Step => {
    if (source.kind === 'person') return { check: each, state: 'waived' };
    // It failed before anything was checked.
    if (outcome === 'error' && check === null) return { check: each, state: 'beyond' };
    return { check: each, state: i < at ? 'passed' : i === at ? 'stopped' : 'beyond' };
  });
}
