import { t } from '../../language/t.ts';
import { StepHead } from './step-head.tsx';

interface Props {
  readonly words: readonly string[];
  /** Said under the question. */
  readonly elsewhere: string;
  readonly onAnswer: (same: boolean) => void;
}

/** Six words that both devices show; read out as a list. */
export function Words({ words }: { words: readonly string[] }) {
  return (
    <ol className="six-words" aria-label={t`The six words`}>
      {words.map((word, i) => (
        <li key={i} translate="no">
          {word}
        </li>
      ))}
    </ol>
  );
}

/** The person compares the words of both devices. */
export function CompareWords({ words, elsewhere, onAnswer }: Props) {
  return (
    <div className="compare">
      <StepHead>{t`Are these the same on both?`}</StepHead>
      <Words words={words} />
      <p>{elsewhere}</p>
      <div className="devices-ways">
        <button type="button" className="solid" onClick={() => onAnswer(true)}>{t`Yes, all six`}</button>
        <button type="button" className="ghost" onClick={() => onAnswer(false)}>{t`No`}</button>
      </div>
    </div>
  );
}
