/**
 * A list that the relay gives newest first, page by page: as much of it as somebody has asked to
 * see.
 */
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { createPages, type Pages, type Reading } from './pages.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';

interface Rows<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Older ones are there. */
  readonly more: boolean;
}

export interface Paged<Row> extends Query<Rows<Row>> {
  readonly pages: Pages;
}

interface PagedDeps<Row, Id> extends Omit<QueryDeps<Rows<Row>>, 'ask'> {
  readonly askPage: (page: { readonly before: Id | null; readonly limit: number }) => Promise<RelayResult<Rows<Row>>>;
  /** What `before` names. */
  readonly idOf: (row: Row) => Id;
  /** Rows of a page; and of one on the way to the very beginning. */
  readonly size: number;
  readonly sizeOfAll?: number;
  /** Rows never change: after a change only those are asked for that are not here yet. */
  readonly fixed?: boolean;
  readonly onReading?: (reading: Reading) => void;
}

export function createPaged<Row, Id extends string | number>({
  askPage,
  idOf,
  size,
  sizeOfAll = size,
  fixed = false,
  onReading = () => undefined,
  ...deps
}: PagedDeps<Row, Id>): Paged<Row> {
  const shown = (): Rows<Row> => {
    const state = query.store.getState();
    return state.kind === 'ready' ? state.value : { rows: [], more: false };
  };
  const lastOf = (rows: readonly Row[]): Id | null => {
    const last = rows.at(-1);
    return last === undefined ? null : idOf(last);
  };

  /** The newest rows: as many as are shown, or down to those that are here already. */
  async function ask(): Promise<RelayResult<Rows<Row>>> {
    const rows: Row[] = [];
    for (;;) {
      const page = await askPage({ before: lastOf(rows), limit: size });
      if (!page.ok) return page;
      rows.push(...page.value.rows);
      const known = shown();
      const ids = known.rows.map(idOf);
      const met = fixed && page.value.rows.some((row) => ids.includes(idOf(row)));
      const enough = met || ids.length === 0 || (!fixed && rows.length >= ids.length);
      if (page.value.more && page.value.rows.length > 0 && !enough) continue;
      if (!met) return { ok: true, value: { rows, more: page.value.more } };
      // What was put in since it was asked for stands before it; what was read of older ones goes
      // on behind it.
      const at = (row: Row | undefined) => (row === undefined ? -1 : ids.indexOf(idOf(row)));
      const newer = known.rows.slice(0, Math.max(0, at(rows[0])));
      const last = at(rows.at(-1));
      return {
        ok: true,
        value: {
          rows: [...newer, ...rows, ...(last < 0 ? [] : known.rows.slice(last + 1))],
          more: last < 0 ? page.value.more : known.more,
        },
      };
    }
  }

  async function readOlder(limit: number): Promise<string | null> {
    for (;;) {
      const before = lastOf(shown().rows);
      const page = await askPage({ before, limit });
      if (!page.ok) return problemText(page.problem);
      // Where it was asked for anew meanwhile, this page may not be the next one.
      if (lastOf(shown().rows) !== before) continue;
      query.amend(({ rows }) => ({ rows: [...rows, ...page.value.rows], more: page.value.more }));
      return null;
    }
  }

  const query = createQuery<Rows<Row>>({ ...deps, ask });
  const pages = createPages({
    more: () => shown().more,
    read: readOlder,
    sizes: { older: size, all: sizeOfAll },
    onReading,
  });
  return { ...query, pages };
}
