import { useEffect, useId, useRef, useState, type FocusEvent, type ReactNode } from 'react';
import { DEFAULT_SETTINGS, isSettingValue, type SettingKey, type Settings } from '../../../shared/domain/settings.ts';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { count } from '../text/sizes.ts';
import { useLeaving } from '../use-leaving.ts';
import { keyOf } from '../parts/keys.ts';

interface FrameProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** What is wrong with the text, or null. */
  readonly wrong: string | null;
  readonly changed: boolean;
  readonly onSave: () => Promise<{ ok: true } | { ok: false; reason: string }>;
  readonly onDrop: () => void;
  readonly onUndo: (() => Promise<unknown>) | null;
  /**
   * Where it is another than without anybody's doing: that one, in words, and the way back to it.
   */
  readonly standard: { readonly text: string; readonly back: () => Promise<unknown> } | null;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly numeric: boolean;
}

/** One setting: it says what is wrong while one types, and that it is saved only once it is. */
function FieldFrame({
  label,
  hint,
  text,
  onText,
  wrong,
  changed,
  onSave,
  onDrop,
  onUndo,
  standard,
  unit,
  placeholder,
  numeric,
}: FrameProps) {
  const id = useId();
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  const save = async () => {
    if (!changed || wrong !== null) return;
    setState('saving');
    const saved = await onSave();
    setFailed(saved.ok ? null : saved.reason);
    setState(saved.ok ? 'saved' : 'idle');
  };
  const problem = wrong ?? (failed === null ? null : t`This could not be saved: ${failed}`);
  return (
    <form
      className="setting"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      // Whoever goes elsewhere has said what they want.
      onBlur={({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) void save();
      }}
    >
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
          onKeyDown={(event) => {
            if (keyOf(event) !== 'Escape' || !changed) return;
            event.stopPropagation();
            onDrop();
          }}
        />
        {unit && <span className="setting-unit">{unit}</span>}
        {changed && (
          <button type="submit" className="solid" disabled={wrong !== null || state === 'saving'}>
            {state === 'saving' ? t`Saving…` : t`Save`}
          </button>
        )}
      </div>
      <p id={`${id}-hint`} className="setting-hint">
        {hint}
      </p>
      {standard && !changed && (
        <p className="setting-from">
          {t`Changed; the default is ${standard.text}.`}
          <button
            type="button"
            className="link-button"
            onClick={() => void standard.back().then(() => setState('saved'))}
          >{t`Set back`}</button>
        </p>
      )}
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {(problem ?? (state === 'saved' && !changed)) && <span>{problem ?? t`Saved.`}</span>}
        {state === 'saved' && !changed && onUndo && (
          <button
            type="button"
            className="link-button"
            onClick={() => void onUndo().then(() => setState('idle'))}
          >{t`Undo`}</button>
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
  /** What it is without anybody's doing, in words; null: everybody gives their own. */
  readonly standard: string | null;
}

/** ms after saving within which whoever goes elsewhere is still offered the way back. */
const JUST_NOW = 3_000;

function SettingField<K extends SettingKey>({
  setting,
  toText,
  toValue,
  wrong,
  label,
  hint,
  unit,
  placeholder,
  numeric = false,
  standard,
}: Props<K>) {
  const actions = useActions();
  const held = useHousehold((state) => state.settings[setting]);
  // null: as it is saved, also when another tab saves it anew.
  const [draft, setDraft] = useState<string | null>(null);
  const [before, setBefore] = useState<Settings[K] | null>(null);
  const text = draft ?? toText(held);
  const value = toValue(text);
  const changed = draft !== null && draft !== toText(held);
  const { device, notices } = useRoost();
  const saving = useRef(false);
  const saved = useRef<{ readonly at: number; readonly before: Settings[K] } | null>(null);
  const store = async (next: Settings[K]) => {
    saving.current = true;
    const done = await actions.saveSetting(setting, next);
    saving.current = false;
    saved.current = done.ok ? { at: device.now(), before: held } : null;
    if (done.ok) setDraft(null);
    return done;
  };
  // Whoever leaves the page in the middle of a change finds it saved, and can take it back.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      const offer = (before: Settings[K]) =>
        notices.info(t`${label} is saved.`, { label: t`Undo`, run: () => void actions.saveSetting(setting, before) });
      // It was saved by leaving the field, and the way back would be gone with the page.
      if (saved.current && device.now() - saved.current.at < JUST_NOW) return offer(saved.current.before);
      if (saving.current) return offer(held);
      if (!changed) return;
      if (value === null) return notices.info(t`${label} was not changed. ${wrong}`);
      void actions
        .saveSetting(setting, value)
        .then((done) => (done.ok ? offer(held) : notices.error(t`${label} could not be saved: ${done.reason}`)));
    };
  });
  useEffect(() => () => leave.current(), []);
  useLeaving(() => leave.current());
  return (
    <FieldFrame
      {...{ label, hint, text, changed, numeric }}
      {...(unit === undefined ? {} : { unit })}
      {...(placeholder === undefined ? {} : { placeholder })}
      wrong={changed && value === null ? wrong : null}
      onText={setDraft}
      onDrop={() => setDraft(null)}
      onSave={async () => {
        if (value === null) return { ok: false, reason: wrong };
        setBefore(held);
        return store(value);
      }}
      onUndo={before === null ? null : () => store(before).then(() => (saved.current = null))}
      standard={
        standard === null || held === DEFAULT_SETTINGS[setting]
          ? null
          : {
              text: standard,
              back: () => {
                setBefore(held);
                return store(DEFAULT_SETTINGS[setting]);
              },
            }
      }
    />
  );
}

type TextKey = 'humanName' | 'leadName';

export function TextSetting({ setting, ...rest }: { setting: TextKey; label: string; hint: ReactNode }) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      standard={null}
      toText={(value) => value}
      toValue={(text) => (isSettingValue(setting, text.trim()) && text.trim() !== '' ? text.trim() : null)}
      wrong={t`It needs a name, of at most 80 characters.`}
    />
  );
}

type NumberKey = 'maxAnswerTokens' | 'contextTokens' | 'transcriptCap' | 'wakeTimeoutMs' | 'birthTimeoutMs' | 'idleMs';

interface NumberProps {
  readonly setting: NumberKey;
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit: string;
  /**
   * How many of the setting's own units one of the shown ones has: 1000 for seconds of
   * milliseconds.
   */
  readonly per: number;
  readonly min: number;
  readonly max: number;
  /** What it is without anybody's doing, where a figure says too little. */
  readonly standard?: string;
}

export function NumberSetting({ setting, per, min, max, unit, standard, ...rest }: NumberProps) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      unit={unit}
      numeric
      standard={standard ?? `${count(DEFAULT_SETTINGS[setting] / per)} ${unit}`}
      toText={(value) => String(value / per)}
      toValue={(text) => {
        const value = text.trim() === '' ? Number.NaN : Math.round(Number(text.replace(',', '.')) * per);
        return isSettingValue(setting, value) ? value : null;
      }}
      wrong={t`Give a number from ${min / per} to ${max / per} ${unit}.`}
    />
  );
}
