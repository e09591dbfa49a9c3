/** The field for the name of an agent that comes from a file. */
import { t } from '../../language/t.ts';
import { Field } from '../design/field.tsx';

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
  return (
    <Field label={t`Name`} problem={fault}>
      {({ id, describedBy }) => (
        <input
          id={id}
          className="field"
          dir="auto"
          autoComplete="off"
          value={name}
          aria-invalid={fault !== null}
          aria-describedby={describedBy}
          onChange={(event) => onName(event.target.value)}
        />
      )}
    </Field>
  );
}
