import { useId, useState } from 'react';
import { SettingFrame, useSaved } from './setting.tsx';

interface Props {
  readonly label: string;
  readonly hint: string;
  readonly own: number | null | undefined;
  readonly effective: number | null;
  readonly baseText: string;
  readonly max: number;
  readonly save: (value: number | null | undefined) => Promise<string | null>;
}

const CENT = 0.01;

/** US dollars a day; empty: no limit. Saved when one leaves the field, or on Enter. */
export function MoneyLimit({ label, hint, own, effective, baseText, max, save }: Props) {
  const id = useId();
  const saved = useSaved<number | null>({ own, save });
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? (effective === null ? '' : String(effective));
  const value = text.trim() === '' ? null : Number(text.replace(',', '.'));
  const fits = value === null || (Number.isFinite(value) && value >= 0 && value <= max);
  const commit = () => {
    if (draft === null || !fits) return;
    const cents = value === null ? null : Math.round(value / CENT) * CENT;
    if (cents === effective) setDraft(null);
    else void saved.set(cents === null ? null : Number(cents.toFixed(2))).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      wrong={fits ? null : `Give an amount from 0 to ${max} US dollars, or nothing for no limit.`}
      describedBy={id}
      inherited={{ text: own === undefined ? baseText : '', back: own === undefined ? null : () => void saved.set(undefined), backLabel: 'Set back' }}
    >
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field field-number"
          inputMode="decimal"
          autoComplete="off"
          placeholder="No limit"
          value={text}
          aria-invalid={!fits}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === 'Enter') commit();
            if (event.key === 'Escape') setDraft(null);
          }}
        />
        <span className="setting-unit">US dollars a day, empty: no limit</span>
      </div>
    </SettingFrame>
  );
}
