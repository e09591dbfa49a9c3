/**
 * A conversation on paper: all that was read of it, from its beginning, with nothing folded away.
 */
import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { t } from '../../language/t.ts';
import type { LogItem } from '../../state/conversation-log.ts';
import { fullTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { rowsOf, type Row } from './rows.ts';
import './print-sheet.css';

interface Props {
  readonly title: string;
  readonly items: readonly LogItem[];
  readonly show: (row: Row) => ReactNode;
  /** Earlier messages were not read. */
  readonly more: boolean;
}

export function PrintSheet({ title, items, show, more }: Props) {
  const sheet = useRef<HTMLElement>(null);
  const now = useNow();
  useLayoutEffect(() => {
    for (const details of sheet.current?.querySelectorAll<HTMLDetailsElement>('.md details') ?? []) details.open = true;
  }, []);
  return createPortal(
    <article ref={sheet} className="print-sheet">
      <header>
        <h1>{title}</h1>
        <p>{t`Printed from Roost on ${fullTime(now)}`}</p>
        {more && <p>{t`Earlier messages are not on this print. “Print” in Roost’s own menu prints all of them.`}</p>}
      </header>
      {rowsOf(items, new Set(items.map(({ key }) => key))).map((row) => (
        <div key={row.key} className="log-row" data-kind={row.item.kind} data-goes-on={row.stretch?.last === false}>
          {show(row)}
        </div>
      ))}
    </article>,
    document.body,
  );
}
