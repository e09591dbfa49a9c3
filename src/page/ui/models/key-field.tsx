import { useEffect, useId, useRef, type ReactNode } from 'react';

/**
 * Where a key is typed or pasted. It is not shown, and no browser is to remember it. Nor is it in
 * the markup, where a page that is saved, or looked through by an extension, would have it: React
 * writes there what it holds of a field.
 */
export function KeyField({
  label,
  value,
  onChange,
  placeholder,
  hint,
}: {
  label: string;
  value: string;
  onChange: (key: string) => void;
  placeholder?: string;
  hint?: ReactNode;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (value === '' && input.current) input.current.value = '';
  }, [value]);
  return (
    <div className="connect-field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        className="field"
        type="password"
        placeholder={placeholder}
        // As of one-time codes: password managers leave it alone.
        autoComplete="off"
        data-1p-ignore=""
        data-lpignore="true"
        spellCheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
    </div>
  );
}
