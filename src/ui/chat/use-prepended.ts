import { useState } from 'react';
import type { Row } from './rows.ts';

interface Seen {
  readonly rows: readonly Row[];
  readonly prepended: boolean;
}

const same = (a: Row | undefined, b: Row | undefined) => a?.key === b?.key;

/** Did earlier rows come in above what was there? The end is then where it was. */
export function usePrepended(rows: readonly Row[]): boolean {
  const [seen, setSeen] = useState<Seen>({ rows, prepended: false });
  if (seen.rows === rows) return seen.prepended;
  const prepended =
    rows.length > seen.rows.length &&
    seen.rows.length > 0 &&
    same(rows.at(-1), seen.rows.at(-1)) &&
    !same(rows[0], seen.rows[0]);
  setSeen({ rows, prepended });
  return prepended;
}
