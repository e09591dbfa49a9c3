import { useId, useState } from 'react';
import { isTimeZone } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { SettingFrame, useSaved } from './setting.tsx';
import { keyOf } from '../parts/keys.ts';

/** Where the household's days begin and its clocks change. */
export function TimeZone({
  own,
  effective,
  save,
}: {
  own: string | undefined;
  effective: string;
  save: (value: string | undefined) => Promise<string | null>;
}) {
  const id = useId();
  const saved = useSaved<string>({ own, save });
  const [draft, setDraft] = useState<string | null>(null);
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const text = draft ?? effective;
  const fits = isTimeZone(text.trim());
  const commit = () => {
    if (draft === null || !fits) return;
    if (text.trim() === effective) setDraft(null);
    else void saved.set(text.trim()).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={t`Time zone`}
      hint={t`Days begin at its midnight, quiet hours go by its clock.`}
      saved={saved}
      wrong={fits ? null : t`Give the name of a time zone, such as Europe/Berlin.`}
      describedBy={id}
      inherited={{
        text: own === undefined ? t`As it was when the household began.` : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to how it began`,
      }}
    >
      <label htmlFor={id}>{t`Time zone`}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field"
          list={`${id}-zones`}
          autoComplete="off"
          value={text}
          aria-invalid={!fits}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Enter') commit();
            if (keyOf(event) === 'Escape') setDraft(null);
          }}
        />
        <datalist id={`${id}-zones`}>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        {effective !== here && draft === null && (
          <button type="button" className="ghost" onClick={() => void saved.set(here)}>
            {t`Take ${here}`}
          </button>
        )}
      </div>
    </SettingFrame>
  );
}
