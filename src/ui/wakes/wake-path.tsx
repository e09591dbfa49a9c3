import type { WakeDecision } from '../../protocol/wakes.ts';
import { pathOf, type StepState } from './path.ts';
import { CHECK_QUESTIONS, CHECK_TITLES, outcomeText, OUTCOME_WORDS } from './words.ts';

const STATE_WORDS: Record<StepState, string> = {
  passed: 'passed',
  stopped: 'stopped here',
  beyond: 'not reached',
  waived: 'not asked: you are never refused',
};

/** The ten checks in their order, from who asked to what came of it; the one that stopped it is marked. */
export function WakePath({ wake }: { wake: WakeDecision }) {
  const steps = pathOf(wake);
  return (
    <ol className="wake-path" aria-label="The way through the checks">
      <li className="wake-step" data-step="asked">
        <span className="wake-step-dot" aria-hidden="true" />
        <span className="wake-step-name">Asked</span>
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
              {state === 'stopped' ? outcomeText(wake) : STATE_WORDS[state]}
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
