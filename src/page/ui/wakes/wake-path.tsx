/** The way of one wake through the checks. */
import { GATE_CHECKS, type GateCheck } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import type { WakeDecision } from '../../../shared/protocol/wakes.ts';
import { CHECK_QUESTIONS, CHECK_TITLES, OUTCOME_WORDS, outcomeText } from './words.ts';

/** `waived`: the person's own wake, which no check refuses; `beyond`: not reached. */
type StepState = 'passed' | 'stopped' | 'beyond' | 'waived';

interface Step {
  readonly check: GateCheck;
  readonly state: StepState;
}

/** Pure. */
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

const STATE_WORDS: Record<StepState, string> = {
  passed: t`passed`,
  stopped: t`stopped here`,
  beyond: t`not reached`,
  waived: t`not asked: you are never refused`,
};

/**
 * The ten checks in their order, from who asked to what came of it; the one that stopped it is
 * marked.
 */
export function WakePath({ wake }: { wake: WakeDecision }) {
  const steps = pathOf(wake);
  return (
    <ol className="wake-path" aria-label={t`The way through the checks`}>
      <li className="wake-step" data-step="asked">
        <span className="wake-step-dot" aria-hidden="true" />
        <span className="wake-step-name">{t`Asked`}</span>
      </li>
      {steps.map(({ check, state }, i) => (
        <li
          key={check}
          className="wake-step"
          data-step={state}
          data-outcome={state === 'stopped' ? wake.outcome : undefined}
          title={CHECK_QUESTIONS[check]}
          {...(state === 'stopped' ? { 'aria-current': 'step' as const } : {})}
        >
          <span className="wake-step-dot" aria-hidden="true">
            {i + 1}
          </span>
          <span className="wake-step-name">
            {CHECK_TITLES[check]}
            <span className={state === 'stopped' ? 'wake-step-said' : 'visually-hidden'}>
              <span className="visually-hidden">: </span>
              <span>{state === 'stopped' ? outcomeText(wake) : STATE_WORDS[state]}</span>
            </span>
          </span>
        </li>
      ))}
      <li className="wake-step" data-step="end" data-outcome={wake.outcome}>
        <span className="wake-step-dot" aria-hidden="true" />
        <span className="wake-step-name">{OUTCOME_WORDS[wake.outcome]}</span>
      </li>
    </ol>
  );
}
