/** Fields: a label, a control, a hint, and what is wrong with the input. */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { keyOf } from './keys.ts';
import './fields.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the input, or null. */
  readonly problem?: string | null;
  /** Several controls under one heading. */
  readonly group?: boolean;
  /** `describedBy`: ids of the hint and the problem. */
  readonly children: (ids: { readonly id: string; readonly describedBy: string }) => ReactNode;
}

export function Field({ label, hint, problem = null, group = false, children }: FieldProps) {
  const id = useId();
  const below = (
    <>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
      <p id={`${id}-problem`} className="setting-state" role="status" data-wrong="true">
        {problem}
      </p>
    </>
  );
  const control = children({ id, describedBy: `${id}-hint ${id}-problem` });
  return group ? (
    <fieldset className="setting">
      <legend>{label}</legend>
      {control}
      {below}
    </fieldset>
  ) : (
    <div className="setting">
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">{control}</div>
      {below}
    </div>
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
