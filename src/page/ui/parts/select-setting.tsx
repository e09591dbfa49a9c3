import { useId, type ReactNode } from 'react';

interface Props {
  readonly label: string;
  readonly hint: string;
  /** The value that is chosen; null: none of the options, but the default. */
  readonly chosen: string | null;
  /** What the default is called. */
  readonly fallback: string;
  /** `lang`: of the name, where it is not the page's. */
  readonly options: readonly { readonly value: string; readonly name: string; readonly lang?: string }[];
  readonly onChoose: (value: string | null) => void;
  readonly className?: string;
  /** Stands beside the field. */
  readonly children?: ReactNode;
}

/** One of a list, or the default, as a choice of this browser's: it holds at once. */
export function SelectSetting({
  label,
  hint,
  chosen,
  fallback,
  options,
  onChoose,
  className = 'setting',
  children,
}: Props) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <select
          id={id}
          className="field field-select"
          aria-describedby={`${id}-hint`}
          value={chosen ?? ''}
          onChange={({ target }) => onChoose(target.value === '' ? null : target.value)}
        >
          <option value="">{fallback}</option>
          {options.map(({ value, name, lang }) => (
            <option key={value} value={value} lang={lang}>
              {name}
            </option>
          ))}
        </select>
        {children}
      </div>
      <p className="setting-hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}
