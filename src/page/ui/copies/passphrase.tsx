import { useId, useState } from 'react';
import { t } from '../../language/t.ts';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly shown: boolean;
  readonly wrong?: string | null;
  readonly isNew: boolean;
}

function Field({ label, value, onChange, shown, wrong = null, isNew }: Props) {
  const id = useId();
  return (
    <div className="pass-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        type={shown ? 'text' : 'password'}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        spellCheck={false}
        value={value}
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-wrong`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-wrong`} className="pass-wrong" role={wrong === null ? undefined : 'alert'}>
        {wrong ?? ''}
      </p>
    </div>
  );
}

function Show({ shown, onChange }: { shown: boolean; onChange: (shown: boolean) => void }) {
  return (
    <label className="tick-line">
      <input type="checkbox" checked={shown} onChange={(event) => onChange(event.target.checked)} />
      {t`Show what I type`}
    </label>
  );
}

/** Characters below which a passphrase is guessed by a machine in time. */
const SHORT = 14;

export interface NewPassphrase {
  readonly first: string;
  readonly second: string;
}

/** Why this cannot be the passphrase, or null. */
export function passphraseFault({ first, second }: NewPassphrase): string | null {
  if (first === '') return t`Type a passphrase, or export without one.`;
  return first === second ? null : t`The two are not the same.`;
}

/** A new passphrase, typed twice. `tried`: faults are shown. */
export function NewPassphraseFields({
  value,
  onChange,
  tried,
}: {
  value: NewPassphrase;
  onChange: (value: NewPassphrase) => void;
  tried: boolean;
}) {
  const [shown, setShown] = useState(false);
  const { first, second } = value;
  const fault = passphraseFault(value);
  const apart = second !== '' && !first.startsWith(second);
  return (
    <div className="pass">
      <Field
        label={t`Passphrase`}
        value={first}
        onChange={(next) => onChange({ first: next, second })}
        shown={shown}
        isNew
        wrong={tried && first === '' ? fault : null}
      />
      <Field
        label={t`The same again`}
        value={second}
        onChange={(next) => onChange({ first, second: next })}
        shown={shown}
        isNew
        wrong={(tried && first !== '') || apart ? fault : null}
      />
      <Show shown={shown} onChange={setShown} />
      {first !== '' && first.length < SHORT && (
        <p className="setting-hint">{t`Short ones can be guessed by a machine. Four or five words that do not belong together hold.`}</p>
      )}
      <p className="pass-warning">
        {t`${<strong>{t`Nobody can recover it.`}</strong>} There is no reset and no second key: without the passphrase the file cannot be opened, by you or by anybody. Write it down, and keep it apart from the file.`}
      </p>
    </div>
  );
}

/** The passphrase of a file that was sealed. */
export function PassphraseForm({
  fileName,
  wrong,
  onTry,
  onCancel,
}: {
  fileName: string;
  wrong: boolean;
  onTry: (passphrase: string) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState('');
  const [shown, setShown] = useState(false);
  return (
    <form
      className="pass"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '') onTry(text);
      }}
    >
      <p>{t`${<b dir="auto">{fileName}</b>} is under a passphrase.`}</p>
      <Field
        label={t`Passphrase of this file`}
        value={text}
        onChange={setText}
        shown={shown}
        isNew={false}
        wrong={
          wrong && text === ''
            ? t`This passphrase does not open it. Upper and lower case, and blanks at the ends, count.`
            : null
        }
      />
      <Show shown={shown} onChange={setShown} />
      <div className="copies-ways">
        <button type="submit" className="solid" disabled={text === ''}>{t`Open`}</button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
    </form>
  );
}
