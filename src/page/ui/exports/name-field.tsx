/** The field for the name of an agent that comes from a file. */
import { useId } from 'react';
import { t } from '../../language/t.ts';

/** `fault`: why the name cannot be used, as a sentence. Null: it can. */
export function NameField({
  name,
  fault,
  onName,
}: {
  name: string;
  fault: string | null;
  onName: (name: string) => void;
}) {
  const id = useId();
  return (
    <div className="pass-field rows-top gap-3 stack">
      <label className="ink medium" htmlFor={id}>{t`Name`}</label>
      <input
        id={id}
        className="field"
        dir="auto"
        autoComplete="off"
        value={name}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-fault`}
        onChange={(event) => onName(event.target.value)}
      />
      <p id={`${id}-fault`} className="pass-wrong danger text-2">
        {fault ?? ''}
      </p>
    </div>
  );
}
