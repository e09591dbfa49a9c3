/**
 * A table of very many rows, in a window of its own in which it scrolls. Rows that are far from
 * what is in sight are not on the page: an empty row keeps their room. The widths of the columns
 * are reckoned from all rows, since they must not change as rows come and go.
 */
import { memo, useMemo, useRef, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { useRoom } from '../parts/near.ts';
import { usePrinting } from '../parts/printing.ts';
import { cellsOf, type TableMeta } from './parser.ts';

/** Rows from which on a table is one of these. */
export const LONG_TABLE = 300;
/** Rows that come and go together. */
const GROUP = 50;
/** Rows by which the widths of the columns are reckoned. */
const MEASURED = 400;
/** Characters of the narrowest and of the widest column. */
const NARROWEST = 5;
const WIDEST = 40;
/** px of a row of one line, until rows were measured. */
const ROW_HEIGHT = 36;
/** px around what is in sight in which rows are on the page. */
const AROUND = 800;

/** Letters of these scripts are twice as wide. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const widthOf = (cell: string) => cell.length + (cell.match(WIDE)?.length ?? 0);

/** Widths of the columns, in characters. */
function widthsOf({ head, rows }: TableMeta): readonly number[] {
  const widths = head.map(widthOf);
  const step = Math.max(1, Math.floor(rows.length / MEASURED));
  for (let at = 0; at < rows.length; at += step)
    for (const [i, cell] of cellsOf(rows[at] ?? '').entries()) {
      if (i < widths.length) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
    }
  return widths.map((width) => Math.min(WIDEST, Math.max(NARROWEST, width)));
}

interface GroupProps {
  readonly rows: readonly string[];
  /** Which row of the table its first one is, from 0. */
  readonly first: number;
  readonly columns: number;
  readonly row: (text: string) => ReactNode;
  readonly isWhole: boolean;
}

const Group = memo(
  function Group({ rows, first, columns, row, isWhole }: GroupProps) {
    const ref = useRef<HTMLTableSectionElement>(null);
    const room = useRoom(ref, {
      around: AROUND,
      wherein: '.md-table',
      isWatched: !isWhole,
      atFirst: first === 0 ? null : rows.length * ROW_HEIGHT,
    });
    return (
      <tbody ref={ref}>
        {room === null ? (
          rows.map((text, i) => (
            <tr key={i} aria-rowindex={first + i + 2}>
              {row(text)}
            </tr>
          ))
        ) : (
          <tr aria-hidden="true">
            <td colSpan={columns} style={{ height: room }} />
          </tr>
        )}
      </tbody>
    );
  },
  // The rows of a table that grows are new objects with the same words.
  (before, now) =>
    before.isWhole === now.isWhole &&
    before.rows.length === now.rows.length &&
    before.rows.every((text, i) => text === now.rows[i]),
);

interface Props {
  readonly table: TableMeta;
  readonly head: ReactNode;
  readonly row: (text: string) => ReactNode;
  readonly dir: 'rtl' | 'ltr';
}

export function LongTable({ table, head, row, dir }: Props) {
  const isWhole = usePrinting();
  const { rows } = table;
  const widths = useMemo(() => widthsOf(table), [table]);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table md-table-long" role="region" aria-label={t`Table`} tabIndex={0} dir={dir}>
      <table aria-rowcount={rows.length + 1}>
        <colgroup>
          {widths.map((width, i) => (
            <col key={i} style={{ width: `${width + 4}ch` }} />
          ))}
        </colgroup>
        <thead>{head}</thead>
        {Array.from({ length: Math.ceil(rows.length / GROUP) }, (_none, i) => (
          <Group
            key={i}
            rows={rows.slice(i * GROUP, (i + 1) * GROUP)}
            first={i * GROUP}
            columns={table.head.length}
            row={row}
            isWhole={isWhole}
          />
        ))}
      </table>
    </div>
  );
}
