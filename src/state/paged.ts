/** A list that the relay gives newest first, page by page: as much of it as somebody has asked to see. */
import type { RelayResult } from '../relay/index.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';

export interface Rows<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Older ones are there. */
  readonly more: boolean;
}

export interface Paged<Row> extends Query<Rows<Row>> {
  /** Another page of older ones. Resolves when it is in the store. */
  older(): Promise<void>;
}

interface PagedDeps<Row> extends Omit<QueryDeps<Rows<Row>>, 'ask'> {
  readonly askPage: (page: {
    readonly before: string | null;
    readonly limit: number;
  }) => Promise<RelayResult<Rows<Row>>>;
  /** What `before` names. */
  readonly idOf: (row: Row) => string;
  /** Rows a page has. */
  readonly size: number;
}

export function createPaged<Row>({ askPage, idOf, size, ...deps }: PagedDeps<Row>): Paged<Row> {
  let wanted = size;

  async function ask(): Promise<RelayResult<Rows<Row>>> {
    const rows: Row[] = [];
    for (;;) {
      const last = rows.at(-1);
      const page = await askPage({ before: last === undefined ? null : idOf(last), limit: size });
      if (!page.ok) return page;
      rows.push(...page.value.rows);
      if (!page.value.more || page.value.rows.length === 0 || rows.length >= wanted)
        return { ok: true, value: { rows, more: page.value.more } };
    }
  }

  const query = createQuery({ ...deps, ask });
  return {
    ...query,
    older() {
      wanted += size;
      return query.again();
    },
  };
}
