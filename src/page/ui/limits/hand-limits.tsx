/** How much room and time what an agent does in its folder may take. */
import { HAND_BOUNDS } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { withCoordination } from '../../state/limits.ts';
import { baseName, inheritedText, useLimits } from './context.tsx';
import { NumberLimit } from './setting.tsx';

const FIGURES = {
  workspace_megabytes: {
    label: t`Room of its folder`,
    hint: t`All its files together; 1,000 MB are one GB. What lies there already stays.`,
    unit: 'MB',
  },
  command_seconds: {
    label: t`Time of a command`,
    hint: t`From the next one on: one that takes longer is ended, with all that it started. Those in the background have half an hour.`,
    unit: t`seconds`,
  },
} as const;

export function HandLimit({ figure }: { readonly figure: keyof typeof FIGURES }) {
  const { own, effective, base, scope, change } = useLimits();
  const { min, max } = HAND_BOUNDS[figure];
  return (
    <NumberLimit
      {...FIGURES[figure]}
      {...{ min, max }}
      own={own[figure]}
      effective={effective[figure]}
      base={base[figure]}
      baseName={baseName(scope)}
      inherited={inheritedText(scope)}
      save={(value) => change((coordination) => withCoordination(coordination, figure, value))}
    />
  );
}
