import { useId } from 'react';
import './one-of.css';

interface OneOfProps<Value extends string | number> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice of a few options, side by side. */
export function OneOf<Value extends string | number>({ label, options, value, onChange }: OneOfProps<Value>) {
  const name = useId();
  return (
    <div className="one-of" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </div>
  );
}
