import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS } from '../../protocol/schedules.ts';
import { ModelSelect } from '../models/model-select.tsx';
import type { Draft } from './draft.ts';
import type { Wrong } from './timing-draft.ts';
import { Labelled } from './editor-parts.tsx';

/** What few change: each a line of text. */
export const MORE_TEXTS = [
  { field: 'model', label: t`Model`, hint: t`What thinks when this is due.` },
  { field: 'planningModel', label: t`Model of the first request`, hint: t`A large one plans, say.` },
  { field: 'executorModel', label: t`Model after tools were used`, hint: t`A small one goes on, say.` },
  {
    field: 'maxConcurrent',
    label: t`Runs of it at once`,
    hint: t`An agent does one thing at a time: more than one wait in line.`,
  },
] as const;

interface Props {
  readonly draft: Draft;
  readonly set: (more: Partial<Draft>) => void;
  readonly wrong: Wrong;
}

export function MoreTexts({ draft, set, wrong }: Props) {
  return MORE_TEXTS.map(({ field, label, hint }) =>
    field !== 'maxConcurrent' ? (
      <ModelSelect
        key={field}
        label={label}
        hint={hint}
        value={draft[field]}
        standard={field === 'model' ? t`Default: the agent’s own` : t`The one above`}
        wrong={wrong[field] ?? null}
        onChange={(model) => set({ [field]: model })}
      />
    ) : (
      <Labelled key={field} label={label} hint={hint} wrong={wrong[field]}>
        {(given) => (
          <input
            {...given}
            className="field"
            autoComplete="off"
            spellCheck={false}
            type="number"
            inputMode="numeric"
            min={SCHEDULE_BOUNDS.maxConcurrent.min}
            max={SCHEDULE_BOUNDS.maxConcurrent.max}
            value={draft[field]}
            onChange={({ target }) => set({ [field]: target.value })}
          />
        )}
      </Labelled>
    ),
  );
}
