import { useId, useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { count } from '../text/sizes.ts';
import { keyOf } from '../parts/keys.ts';

interface Saving<Value> {
  /** What was set here; undefined: nothing, and what is inherited holds. */
  readonly own: Value | undefined;
  /** Null where it was taken, else why not. */
  readonly save: (value: Value | undefined) => Promise<string | null>;
}

export interface Saved<Value> {
  readonly state: 'idle' | 'saving' | 'saved';
  readonly failed: string | null;
  /** What is being saved now: shown already, and taken back where it is refused. */
  readonly saving: { readonly value: Value | undefined } | null;
  readonly set: (value: Value | undefined) => Promise<void>;
  /** Brings back what stood before the last change; null where there was none. */
  readonly undo: (() => Promise<void>) | null;
}

/** A setting that is saved as soon as it is changed, and can be brought back. */
export function useSaved<Value>({ own, save }: Saving<Value>): Saved<Value> {
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  const [saving, setSaving] = useState<{ readonly value: Value | undefined } | null>(null);
  const [before, setBefore] = useState<{ readonly value: Value | undefined } | null>(null);
  const store = async (value: Value | undefined, next: { readonly value: Value | undefined } | null) => {
    setState('saving');
    setSaving({ value });
    const problem = await save(value);
    setSaving(null);
    setFailed(problem);
    setState(problem === null && next ? 'saved' : 'idle');
    if (problem === null) setBefore(next);
  };
  return {
    state,
    failed,
    saving,
    set: (value) => store(value, { value: own }),
    undo: before ? () => store(before.value, null) : null,
  };
}

interface FrameProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly children: ReactNode;
  readonly saved: Pick<Saved<unknown>, 'state' | 'failed' | 'undo'>;
  /** What is wrong with what was typed, or null. */
  readonly wrong?: string | null;
  /** Says what is inherited; `back` is given where something is set here that can be set back. */
  readonly inherited: { readonly text: string; readonly back: (() => void) | null; readonly backLabel: string };
  /** One field, with a label of its own; else a group of them. */
  readonly group?: boolean;
  readonly describedBy: string;
}

/**
 * What stands around a setting: what it is for, whether it is inherited, and what became of a
 * change.
 */
export function SettingFrame({
  legend,
  hint,
  children,
  saved,
  wrong = null,
  inherited,
  group = false,
  describedBy,
}: FrameProps) {
  const problem = wrong ?? (saved.failed === null ? null : t`This could not be saved: ${saved.failed}`);
  const said =
    problem ?? (saved.state === 'saving' ? t`Saving…` : saved.state === 'saved' ? t`Saved. It holds now.` : null);
  const inside = (
    <>
      {children}
      {hint !== undefined && (
        <p id={`${describedBy}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
      <p className="limit-from">
        <span id={`${describedBy}-from`}>{inherited.text}</span>
        {inherited.back && (
          <button type="button" className="link-button" onClick={inherited.back}>
            {inherited.backLabel}
          </button>
        )}
      </p>
      <p id={`${describedBy}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {said !== null && <span>{said}</span>}
        {problem === null && saved.state === 'saved' && saved.undo && (
          <button type="button" className="link-button" onClick={() => void saved.undo?.()}>{t`Undo`}</button>
        )}
      </p>
    </>
  );
  return group ? (
    <fieldset className="limit limit-group">
      <legend>{legend}</legend>
      {inside}
    </fieldset>
  ) : (
    <div className="limit">{inside}</div>
  );
}

interface NumberProps extends Saving<number> {
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit: string;
  readonly effective: number;
  readonly base: number;
  readonly baseName: string;
  /** Where nothing was set here, as a sentence. */
  readonly inherited: string;
  readonly min: number;
  readonly max: number;
}

/** A whole number with its bounds. It is saved when one leaves the field, or on Enter. */
export function NumberLimit({
  label,
  hint,
  unit,
  own,
  effective,
  base,
  baseName,
  inherited,
  min,
  max,
  save,
}: NumberProps) {
  const id = useId();
  const saved = useSaved({ own, save });
  // null: as it is saved, also when another tab saves it anew.
  const [draft, setDraft] = useState<string | null>(null);
  const value = draft === null ? effective : draft.trim() === '' ? Number.NaN : Number(draft);
  const fits = Number.isInteger(value) && value >= min && value <= max;
  const commit = () => {
    if (draft === null || !fits) return;
    if (value === effective) setDraft(null);
    else void saved.set(value).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      wrong={fits ? null : t`Give a whole number from ${min} to ${max}.`}
      describedBy={id}
      inherited={{
        text: own === undefined ? inherited : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName}, ${base}`,
      }}
    >
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field field-number"
          inputMode="numeric"
          autoComplete="off"
          value={draft ?? String(effective)}
          aria-invalid={!fits}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Enter') commit();
            if (keyOf(event) === 'Escape') setDraft(null);
          }}
        />
        <span className="setting-unit">{t`${unit}, ${min} to ${count(max)}`}</span>
      </div>
    </SettingFrame>
  );
}
