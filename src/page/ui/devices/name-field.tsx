import { useId } from 'react';
import { t } from '../../language/t.ts';

/** Longest name of a device, in characters; the owner refuses a longer one. */
const NAME_MAX = 60;

interface Props {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label?: string;
  readonly hint?: string;
}

/** A person's word for a device. */
export function NameField({
  value,
  onChange,
  label = t`What this device is called`,
  hint = t`So that you can tell it apart in the list. You can change it later.`,
}: Props) {
  const id = useId();
  const missing = value.trim() === '';
  return (
    <div className="device-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        dir="auto"
        autoComplete="off"
        maxLength={NAME_MAX}
        value={value}
        aria-invalid={missing}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      <small id={`${id}-hint`}>{missing ? t`It needs a name.` : hint}</small>
    </div>
  );
}
