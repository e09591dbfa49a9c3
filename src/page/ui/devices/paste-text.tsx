import { useId, useState, type FormEvent } from 'react';

interface Props {
  readonly label: string;
  /** How such a text begins. */
  readonly placeholder: string;
  readonly button: string;
  readonly busy?: boolean;
  /** What is wrong with the text, or null where it is taken. */
  readonly onText: (text: string) => Promise<string | null> | string | null;
}

/** A place to paste a text from another device. What was typed stays until it is taken. */
export function PasteText({ label, placeholder, button, busy = false, onText }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const take = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || text.trim() === '') return;
    setWrong(await onText(text));
  };
  return (
    <form className="device-field" onSubmit={(event) => void take(event)}>
      <label htmlFor={id}>{label}</label>
      <div className="device-line">
        <textarea
          id={id}
          className="field device-text"
          rows={2}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          placeholder={placeholder}
          value={text}
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-wrong`}
          onChange={(event) => {
            setText(event.target.value);
            setWrong(null);
          }}
        />
        <button type="submit" className="ghost ghost-dawn" disabled={busy || text.trim() === ''}>
          {button}
        </button>
      </div>
      {wrong !== null && (
        <p id={`${id}-wrong`} className="device-wrong" role="alert">
          {wrong}
        </p>
      )}
    </form>
  );
}
