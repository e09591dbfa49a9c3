import { useEffect, useRef } from 'react';

interface Props {
  readonly words: readonly string[];
  /** Said under the question. */
  readonly elsewhere: string;
  readonly onAnswer: (same: boolean) => void;
}

/** Six words that both devices show; read out as a list. */
export function Words({ words }: { words: readonly string[] }) {
  return (
    <ol className="six-words" aria-label="The six words">
      {words.map((word, i) => (
        <li key={i} translate="no">
          {word}
        </li>
      ))}
    </ol>
  );
}

/** The person compares the words of both devices. The question takes the focus: nothing goes on without it. */
export function CompareWords({ words, elsewhere, onAnswer }: Props) {
  const question = useRef<HTMLHeadingElement>(null);
  useEffect(() => question.current?.focus(), []);
  return (
    <div className="compare">
      <h3 ref={question} tabIndex={-1}>
        Are these the same on both?
      </h3>
      <Words words={words} />
      <p>{elsewhere}</p>
      <div className="devices-ways">
        <button type="button" className="solid" onClick={() => onAnswer(true)}>
          Yes, all six
        </button>
        <button type="button" className="ghost" onClick={() => onAnswer(false)}>
          No
        </button>
      </div>
    </div>
  );
}
