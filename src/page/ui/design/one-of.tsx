import { type ReactNode, useId } from 'react';
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

interface ChoiceCardsProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly { readonly value: Value; readonly title: string; readonly about: string }[];
  /** Undefined: none of them. */
  readonly value: Value | undefined;
  readonly onChange: (value: Value) => void;
  readonly children?: ReactNode;
}

/** A choice of a few options, each with a line about it. */
export function ChoiceCards<Value extends string>({
  legend,
  options,
  value,
  onChange,
  children,
}: ChoiceCardsProps<Value>) {
  const name = useId();
  return (
    <fieldset className="setting">
      <legend>{legend}</legend>
      <div className="choice-cards">
        {options.map((option) => (
          <label key={option.value} className="choice-card" data-checked={option.value === value}>
            <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
            <b>{option.title}</b>
            <small>{option.about}</small>
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  );
}
