/** Fields: a label, a control, a hint, and what is wrong with the input. */
import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { keyOf } from './keys.ts';
import './fields.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the input. */
  readonly wrong?: string | null | undefined;
  /** Attributes of the control. */
  readonly children: (given: {
    readonly id: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string;
  }) => ReactNode;
}

/** A control with its label above it. */
export function Field({ label, hint, wrong = null, children }: FieldProps) {
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': wrong !== null, 'aria-describedby': `${id}-hint ${id}-wrong` })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
      {wrong !== null && (
        <p id={`${id}-wrong`} className="danger text-2 above-2" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}

interface SelectFieldProps<Value extends string> extends Omit<FieldProps, 'children'> {
  /** Values with their texts. */
  readonly choices: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice of a few values, in words. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { choices, value, onChange, ...field } = props;
  return (
    <Field {...field}>
      {(given) => (
        <select
          {...given}
          className="field"
          value={value}
          onChange={({ target }) => {
            const chosen = choices.find(([key]) => key === target.value);
            if (chosen) onChange(chosen[0]);
          }}
        >
          {choices.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type InputProps = Pick<ComponentProps<'input'>, 'type' | 'inputMode' | 'min' | 'max' | 'step' | 'list'>;

interface TextFieldProps extends Omit<FieldProps, 'children'>, InputProps {
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Several lines. */
  readonly rows?: number;
  readonly placeholder?: string | undefined;
  readonly maxLength?: number;
  readonly autoComplete?: string;
  /** People's words: of any direction, and checked for spelling. */
  readonly prose?: boolean;
  /** No wider than its content. */
  readonly short?: boolean;
  readonly onBlur?: () => void;
  readonly onFocus?: () => void;
}

/** A text in a form. */
export function TextField(props: TextFieldProps) {
  const { label, hint, wrong, onText, rows, prose = false, short = false } = props;
  const { value, placeholder, maxLength, autoComplete = 'off', onBlur, onFocus } = props;
  const { type, inputMode, min, max, step, list } = props;
  const written = prose ? { dir: 'auto' } : { spellCheck: false, autoCapitalize: 'off' };
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(given) => {
        const common = {
          ...{ ...given, ...written, value, placeholder, maxLength, autoComplete, onBlur, onFocus },
          className: short ? 'field field-short' : 'field',
          onChange: ({ target }: { readonly target: { readonly value: string } }) => onText(target.value),
        };
        return rows === undefined ? (
          <input {...common} {...{ type, inputMode, min, max, step, list }} />
        ) : (
          <textarea {...common} rows={rows} />
        );
      }}
    </Field>
  );
}

/** Why something was not done; nothing if there is no reason. */
export const WrongNote = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p className="wrong-note" role="alert">
      {text}
    </p>
  );

interface DraftOptions<Value> {
  /** The stored value, which another tab may change. */
  readonly text: string;
  /** Undefined: not a valid value. */
  readonly parse: (text: string) => Value | undefined;
  /** Settles when the value is stored or refused. */
  readonly onSave: (value: Value) => Promise<unknown>;
}

/**
 * A text while it is edited. It is saved when the field loses the focus, on Enter, and when the
 * page is left; Escape takes it back.
 */
export function useDraft<Value>({ text, parse, onSave }: DraftOptions<Value>) {
  const [draft, setDraft] = useState<string | null>(null);
  const saving = useRef<string | null>(null);
  const value = draft === null ? undefined : parse(draft);
  const commit = () => {
    if (draft === null || value === undefined || saving.current === draft) return;
    if (draft === text) return setDraft(null);
    saving.current = draft;
    void onSave(value).finally(() => {
      saving.current = null;
      setDraft((now) => (now === draft ? null : now));
    });
  };
  const leave = useRef(commit);
  useEffect(() => {
    leave.current = commit;
  });
  useEffect(() => {
    const left = () => leave.current();
    addEventListener('pagehide', left);
    return () => {
      removeEventListener('pagehide', left);
      left();
    };
  }, []);
  return {
    isWrong: draft !== null && value === undefined,
    isChanged: draft !== null,
    props: {
      value: draft ?? text,
      autoComplete: 'off',
      'aria-invalid': draft !== null && value === undefined,
      onChange: ({ target }: { readonly target: { readonly value: string } }) => setDraft(target.value),
      onBlur: commit,
      onKeyDown(event: KeyboardEvent) {
        if (keyOf(event) === 'Enter') commit();
        if (keyOf(event) !== 'Escape' || draft === null) return;
        event.stopPropagation();
        setDraft(null);
      },
    },
  };
}
