import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { isSettingValue, type SettingKey, type Settings } from '../../domain/settings.ts';
import { useActions, useHousehold } from '../context.tsx';

interface FrameProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** What is wrong with the text, or null. */
  readonly wrong: string | null;
  readonly changed: boolean;
  readonly onSave: () => Promise<{ ok: true } | { ok: false; reason: string }>;
  readonly onUndo: (() => Promise<unknown>) | null;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly numeric: boolean;
}

/** One setting: it says what is wrong while one types, and that it is saved only once it is. */
function FieldFrame({ label, hint, text, onText, wrong, changed, onSave, onUndo, unit, placeholder, numeric }: FrameProps) {
  const id = useId();
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!changed || wrong !== null) return;
    setState('saving');
    const saved = await onSave();
    setFailed(saved.ok ? null : saved.reason);
    setState(saved.ok ? 'saved' : 'idle');
  };
  const problem = wrong ?? (failed === null ? null : `This could not be saved: ${failed}`);
  return (
    <form className="setting" onSubmit={(event) => void save(event)} noValidate>
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className={numeric ? 'field field-number' : 'field'}
          value={text}
          dir={numeric ? undefined : 'auto'}
          inputMode={numeric ? 'decimal' : undefined}
          placeholder={placeholder}
          autoComplete="off"
          aria-invalid={problem !== null}
          aria-describedby={`${id}-hint ${id}-state`}
          onChange={(event) => {
            onText(event.target.value);
            setState('idle');
          }}
        />
        {unit && <span className="setting-unit">{unit}</span>}
        {changed && (
          <button type="submit" className="solid" disabled={wrong !== null || state === 'saving'}>
            {state === 'saving' ? 'Saving…' : 'Save'}
          </button>
        )}
      </div>
      <p id={`${id}-hint`} className="setting-hint">
        {hint}
      </p>
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {problem ?? (state === 'saved' && !changed ? 'Saved.' : '')}
        {state === 'saved' && !changed && onUndo && (
          <button type="button" className="link-button" onClick={() => void onUndo().then(() => setState('idle'))}>
            Undo
          </button>
        )}
      </p>
    </form>
  );
}

interface Form<K extends SettingKey> {
  readonly toText: (value: Settings[K]) => string;
  /** null: this is no value of the setting. */
  readonly toValue: (text: string) => Settings[K] | null;
  readonly wrong: string;
}

interface Props<K extends SettingKey> extends Form<K> {
  readonly setting: K;
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly numeric?: boolean;
}

function SettingField<K extends SettingKey>({ setting, toText, toValue, wrong, label, hint, unit, placeholder, numeric = false }: Props<K>) {
  const actions = useActions();
  const held = useHousehold((state) => state.settings[setting]);
  // null: as it is saved, also when another tab saves it anew.
  const [draft, setDraft] = useState<string | null>(null);
  const [before, setBefore] = useState<Settings[K] | null>(null);
  const text = draft ?? toText(held);
  const value = toValue(text);
  const changed = draft !== null && draft !== toText(held);
  const store = async (next: Settings[K]) => {
    const saved = await actions.saveSetting(setting, next);
    if (saved.ok) setDraft(null);
    return saved;
  };
  return (
    <FieldFrame
      {...{ label, hint, text, changed, numeric }}
      {...(unit === undefined ? {} : { unit })}
      {...(placeholder === undefined ? {} : { placeholder })}
      wrong={changed && value === null ? wrong : null}
      onText={setDraft}
      onSave={async () => {
        if (value === null) return { ok: false, reason: wrong };
        setBefore(held);
        return store(value);
      }}
      onUndo={before === null ? null : () => store(before)}
    />
  );
}

type TextKey = 'humanName' | 'leadName' | 'leadModel' | 'agentModel';

export function TextSetting({ setting, required = false, ...rest }: { setting: TextKey; label: string; hint: ReactNode; required?: boolean; placeholder?: string }) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      toText={(value) => value}
      toValue={(text) => (isSettingValue(setting, text.trim()) && !(required && text.trim() === '') ? text.trim() : null)}
      wrong={required ? 'It needs a name, of at most 80 characters.' : 'This is too long.'}
    />
  );
}

type NumberKey = 'maxAnswerTokens' | 'contextTokens' | 'transcriptCap' | 'wakeTimeoutMs' | 'birthTimeoutMs' | 'idleMs';

interface NumberProps {
  readonly setting: NumberKey;
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit: string;
  /** How many of the setting's own units one of the shown ones has: 1000 for seconds of milliseconds. */
  readonly per: number;
  readonly min: number;
  readonly max: number;
}

export function NumberSetting({ setting, per, min, max, unit, ...rest }: NumberProps) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      unit={unit}
      numeric
      toText={(value) => String(value / per)}
      toValue={(text) => {
        const value = text.trim() === '' ? Number.NaN : Math.round(Number(text.replace(',', '.')) * per);
        return isSettingValue(setting, value) ? value : null;
      }}
      wrong={`Give a number from ${min / per} to ${max / per} ${unit}.`}
    />
  );
}
