import { COORDINATION_BOUNDS } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { withCoordination, withGuardrails, type Guardrails } from '../../state/limits.ts';
import { baseName, inheritedText, useLimits } from './context.tsx';
import { NumberLimit } from './setting.tsx';

interface Text {
  readonly label: string;
  readonly hint: string;
  readonly unit: string;
}

const GUARDRAILS: Record<keyof Guardrails, Text> = {
  max_wakes_per_day: {
    label: t`Wakes a day`,
    hint: t`Whoever asks. The day is the household’s, from midnight to midnight. 0 means never.`,
    unit: t`wakes`,
  },
  cooldown_seconds: {
    label: t`Pause between two wakes`,
    hint: t`Whoever asks. 300 seconds are five minutes.`,
    unit: t`seconds`,
  },
  max_wakes_per_pair_per_day: {
    label: t`Wakes a day by the same one`,
    hint: t`How often one agent may wake another: two that wake each other for ever stop here. 0 means never.`,
    unit: t`wakes`,
  },
  max_daily_session_minutes: {
    label: t`Minutes a day`,
    hint: t`All its sessions of a day together. 0 means never.`,
    unit: t`minutes`,
  },
  max_wakes_per_session: {
    label: t`Wakes of others in one session`,
    hint: t`How often it may have others woken in one session. 0 means never.`,
    unit: t`wakes`,
  },
};
const ORDER = [
  'max_wakes_per_day',
  'cooldown_seconds',
  'max_wakes_per_pair_per_day',
  'max_daily_session_minutes',
  'max_wakes_per_session',
] as const satisfies readonly (keyof Guardrails)[];

/** The figures that the gate goes by. */
export function GuardrailFields() {
  const { own, effective, base, scope, change } = useLimits();
  return (
    <>
      {ORDER.map((key) => (
        <NumberLimit
          key={key}
          {...GUARDRAILS[key]}
          {...COORDINATION_BOUNDS[key]}
          own={own.wake_guardrails?.[key]}
          effective={effective.wake_guardrails[key]}
          base={base.wake_guardrails[key]}
          baseName={baseName(scope)}
          inherited={inheritedText(scope)}
          save={(value) => change((coordination) => withGuardrails(coordination, { [key]: value }))}
        />
      ))}
      <NumberLimit
        label={t`Sessions at once`}
        hint={t`How many sessions of it may run at the same time. 0 means never.`}
        unit={t`sessions`}
        {...COORDINATION_BOUNDS.max_concurrent_pulse_sessions}
        own={own.max_concurrent_pulse_sessions}
        effective={effective.max_concurrent_pulse_sessions}
        base={base.max_concurrent_pulse_sessions}
        baseName={baseName(scope)}
        inherited={inheritedText(scope)}
        save={(value) =>
          change((coordination) => withCoordination(coordination, 'max_concurrent_pulse_sessions', value))
        }
      />
    </>
  );
}
