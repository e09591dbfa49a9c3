import { useId } from 'react';
import { t } from '../../language/t.ts';
import { countWords } from './phrase.ts';

/** Words of a phrase. */
const WORDS = 24;

interface Props {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Why it is not the phrase, naming the word; null: nothing is known against it. */
  readonly wrong: string | null;
}

/** Where a phrase is typed: in any case, with numbers, commas and line breaks as they come. */
export function PhraseField({ value, onChange, wrong }: Props) {
  const id = useId();
  const count = countWords(value);
  return (
    <div className="device-field">
      <label htmlFor={id}>{t`The ${WORDS} words`}</label>
      <textarea
        id={id}
        className="field phrase-field"
        rows={5}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        value={value}
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-hint ${id}-wrong`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p className="phrase-count">
        <small
          id={`${id}-hint`}
        >{t`In their order. Numbers, commas and capitals do not matter; four letters of each word are enough.`}</small>
        <small data-whole={count === WORDS}>{t`${count} of ${WORDS}`}</small>
      </p>
      {wrong !== null && (
        <p id={`${id}-wrong`} className="device-wrong" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}
