import { useCallback, useLayoutEffect, useState, type RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { Row } from './rows.ts';

interface Folds {
  /** Keys of the items whose long text is open. */
  readonly unfolded: ReadonlySet<string>;
  readonly fold: (key: string) => void;
}

/** Long texts that open and close. */
export function useFolds(): Folds {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const fold = useCallback(
    (key: string) =>
      setUnfolded((open) => {
        const next = new Set(open);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
    [],
  );
  return { unfolded, fold };
}

/**
 * A text that closes would leave its reader somewhere below it: its beginning is brought into
 * sight.
 */
export function useFoldedInSight(
  unfolded: ReadonlySet<string>,
  rows: readonly Row[],
  list: RefObject<VirtualizerHandle | null>,
): void {
  const [seen, setSeen] = useState(unfolded);
  const [closed, setClosed] = useState<string | undefined>(undefined);
  if (seen !== unfolded) {
    setSeen(unfolded);
    setClosed([...seen].find((key) => !unfolded.has(key)));
  }
  useLayoutEffect(() => {
    const index = closed === undefined ? -1 : rows.findIndex((row) => row.key === closed);
    if (index >= 0) list.current?.scrollToIndex(index, { align: 'nearest' });
    // Only the closing itself moves the view, not rows that come later.
  }, [closed, unfolded]);
}
