import {
  COORDINATION_BOUNDS,
  DEFAULT_LIMITS,
  DEFAULT_SLEEP_WAIT_SECONDS,
  HAND_BOUNDS,
} from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import type { EffectiveConfig, HouseholdConfig } from '../../../shared/protocol/config.ts';
import { baseName, inheritedText } from './context.tsx';
import { NumberLimit } from './setting.tsx';

const BOUNDS = { ...COORDINATION_BOUNDS, ...HAND_BOUNDS };

interface Figure {
  readonly key: keyof typeof BOUNDS;
  readonly label: string;
  readonly hint: string;
  readonly unit: string;
  readonly base: number;
  readonly own: (config: HouseholdConfig) => number | undefined;
  readonly effective: (config: EffectiveConfig) => number;
  readonly set: (config: HouseholdConfig, value: number | undefined) => HouseholdConfig;
}

const FIGURES: readonly Figure[] = [
  {
    key: 'flood_max_wakes',
    label: t`Wakes at once in the household`,
    hint: t`Beyond this, wakes that you did not ask for are stopped, whoever asks for whom.`,
    unit: t`wakes`,
    base: DEFAULT_LIMITS.floodMaxWakes,
    own: (config) => config.flood_guard?.max_wakes,
    effective: (config) => config.flood_guard.max_wakes,
    set: (config, value) => ({ ...config, flood_guard: { ...config.flood_guard, max_wakes: value } }),
  },
  {
    key: 'flood_window_seconds',
    label: t`Counted over`,
    hint: t`The stretch of time that the limit above looks back on.`,
    unit: t`seconds`,
    base: DEFAULT_LIMITS.floodWindowSeconds,
    own: (config) => config.flood_guard?.window_seconds,
    effective: (config) => config.flood_guard.window_seconds,
    set: (config, value) => ({ ...config, flood_guard: { ...config.flood_guard, window_seconds: value } }),
  },
  {
    key: 'sleep_wait_seconds',
    label: t`How long a sleeping agent’s call is held`,
    hint: t`A program that plays an agent waits this long while the agent is set to sleep; then it is told to try again.`,
    unit: t`seconds`,
    base: DEFAULT_SLEEP_WAIT_SECONDS,
    own: (config) => config.sleep_wait_seconds,
    effective: (config) => config.sleep_wait_seconds,
    set: (config, value) => ({ ...config, sleep_wait_seconds: value }),
  },
  {
    key: 'programs_at_once',
    label: t`ACP agents that start at once`,
    hint: t`Where several agents wake whose minds are programs, such as Claude Code. The others wait for their turn; where memory is short, fewer start.`,
    unit: t`programs`,
    base: HAND_BOUNDS.programs_at_once.otherwise,
    own: (config) => config.programs_at_once,
    effective: (config) => config.programs_at_once,
    set: (config, value) => ({ ...config, programs_at_once: value }),
  },
];

interface Props {
  readonly own: HouseholdConfig;
  readonly effective: EffectiveConfig;
  /** Null where it was taken, else why not. */
  readonly change: (edit: (own: HouseholdConfig) => HouseholdConfig) => Promise<string | null>;
}

/** The figures that hold for everybody together. */
export function HouseholdFigures({ own, effective, change }: Props) {
  return FIGURES.map(({ key, label, hint, unit, base, ...figure }) => (
    <NumberLimit
      key={key}
      label={label}
      hint={hint}
      unit={unit}
      min={BOUNDS[key].min}
      max={BOUNDS[key].max}
      own={figure.own(own)}
      effective={figure.effective(effective)}
      base={base}
      baseName={baseName('household')}
      inherited={inheritedText('household')}
      save={(value) => change((config) => figure.set(config, value))}
    />
  ));
}
