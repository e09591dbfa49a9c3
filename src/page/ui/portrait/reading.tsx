/**
 * Something of the ledger that a component reads for itself, and is read again when `read` changes.
 */
import { errorText } from '../../state/ports.ts';
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';

type Reading<Value> =
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'read'; readonly value: Value };

/**
 * `read`: the same function for as long as what it reads is the same. What was read stays in sight
 * while it is read again.
 */
export function useReading<Value>(read: () => Promise<Value>): readonly [Reading<Value>, again: () => void] {
  const [reading, setReading] = useState<Reading<Value>>({ kind: 'reading' });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let left = false;
    read().then(
      (value) => left || setReading({ kind: 'read', value }),
      (error: unknown) => left || setReading({ kind: 'failed', reason: errorText(error) }),
    );
    return () => {
      left = true;
    };
  }, [read, tries]);
  return [reading, useCallback(() => setTries((count) => count + 1), [])];
}

interface Props<Value> {
  readonly reading: Reading<Value>;
  readonly again: () => void;
  /** What is read, as a sentence begins: "The conversations". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

export function ReadingView<Value>({ reading, again, what, children }: Props<Value>) {
  if (reading.kind === 'reading') return <p className="query-loading" role="status">{t`Reading…`}</p>;
  if (reading.kind === 'read') return children(reading.value);
  return (
    <div className="wrong-note" role="alert">
      <p>
        <strong>{t`${what} could not be read.`}</strong> {reading.reason}
      </p>
      <button type="button" className="ghost" onClick={again}>{t`Try again`}</button>
    </div>
  );
}
