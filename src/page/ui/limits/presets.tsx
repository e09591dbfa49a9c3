import { PRESETS } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { withGuardrails, type Guardrails } from '../../state/limits.ts';
import { useLimits } from './context.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

type PresetName = keyof typeof PRESETS;
const NAMES = ['careful', 'normal', 'brisk'] as const satisfies readonly PresetName[];
const TITLES: Record<PresetName, string> = { careful: t`Careful`, normal: t`Normal`, brisk: t`Brisk` };

const pause = (seconds: number) => (seconds >= 120 ? t`${Math.round(seconds / 60)} min` : `${seconds} s`);
const about = ({
  max_wakes_per_day,
  cooldown_seconds,
}: {
  readonly max_wakes_per_day: number;
  readonly cooldown_seconds: number;
}) => t`${max_wakes_per_day} a day, ${pause(cooldown_seconds)} apart`;

type Chosen = Pick<Guardrails, 'max_wakes_per_day' | 'cooldown_seconds'>;
const sameAs = (a: Chosen, b: Chosen) =>
  a.max_wakes_per_day === b.max_wakes_per_day && a.cooldown_seconds === b.cooldown_seconds;

/** Wakes a day and the pause between them, in one choice. */
export function Presets() {
  const { own, effective, base, scope, change } = useLimits();
  const set: Chosen | undefined =
    own.wake_guardrails?.max_wakes_per_day === undefined && own.wake_guardrails?.cooldown_seconds === undefined
      ? undefined
      : {
          max_wakes_per_day: own.wake_guardrails.max_wakes_per_day,
          cooldown_seconds: own.wake_guardrails.cooldown_seconds,
        };
  const saved = useSaved<Chosen>({
    own: set,
    save: (value) =>
      change((coordination) =>
        withGuardrails(coordination, {
          max_wakes_per_day: value?.max_wakes_per_day,
          cooldown_seconds: value?.cooldown_seconds,
        }),
      ),
  });
  const { saving } = saved;
  const under = base.wake_guardrails;
  const held = saving
    ? {
        max_wakes_per_day: saving.value?.max_wakes_per_day ?? under.max_wakes_per_day,
        cooldown_seconds: saving.value?.cooldown_seconds ?? under.cooldown_seconds,
      }
    : effective.wake_guardrails;
  const inherits = scope === 'agent' && (saving ? saving.value : set) === undefined;
  const preset = NAMES.find((name) => sameAs(PRESETS[name], held));
  const choice = (key: string, title: string, text: string, checked: boolean, value: Chosen | undefined) => (
    <label key={key} className="preset" data-checked={checked}>
      <input type="radio" name="preset" checked={checked} onChange={() => void saved.set(value)} />
      <b>{title}</b>
      <small>{text}</small>
    </label>
  );
  return (
    <SettingFrame
      legend={t`How lively`}
      group
      saved={saved}
      describedBy="presets"
      inherited={{
        text:
          preset === undefined
            ? t`By figures of ${scope === 'agent' && inherits ? t`the household’s` : t`your`} own: ${about(held)}.`
            : '',
        back: null,
        backLabel: '',
      }}
    >
      <div className="presets">
        {scope === 'agent' && choice('inherit', t`As the household`, about(base.wake_guardrails), inherits, undefined)}
        {NAMES.map((name) =>
          choice(name, TITLES[name], about(PRESETS[name]), !inherits && preset === name, PRESETS[name]),
        )}
      </div>
    </SettingFrame>
  );
}
