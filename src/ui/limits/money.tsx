import { useId, useState } from 'react';
import { budgetText, parseUsd } from '../text/money.ts';
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

/** US dollars a day; empty: no limit. Saved when one leaves the field, or on Enter. */
export function MoneyLimit({ label, hint, own, effective, baseText, max, save }: Props) {
  const id = useId();
  const saved = useSaved<number | null>({ own, save });
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? (effective === null ? '' : String(effective));
  const value = parseUsd(text, max);
  const commit = () => {
    if (draft === null || value === undefined) return;
    if (value === effective) setDraft(null);
    else void saved.set(value).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      wrong={value === undefined ? `Give an amount from 0 to ${budgetText(max)}, or nothing for no limit.` : null}
      describedBy={id}
      inherited={{
        text: own === undefined ? baseText : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: 'Set back',
      }}
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
          aria-invalid={value === undefined}
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
