/**
 * Reading something backwards, from its newest page to its very beginning. One page is read at a
 * time, whoever asks.
 */
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';

/**
 * `older`: one more page is on its way; `all`: page after page, to the very beginning; `until`: as
 * far as somebody looks for.
 */
export type Reading = 'nothing' | 'older' | 'all' | 'until';

export interface Pages {
  /**
   * Reads one more page, unless something is being read. Answers with why it could not, or null.
   */
  older(): Promise<string | null>;
  /**
   * Reads everything. Answers whether it came to the beginning: not if `stop` was called, or a page
   * could not be read.
   */
  toBeginning(): Promise<boolean>;
  /**
   * Reads as far back as it takes until `isThere`. Answers whether it is; if not: why it could not
   * be read, or null.
   */
  until(isThere: () => boolean): Promise<{ readonly there: boolean; readonly wrong: string | null }>;
  /** What was read stays. */
  stop(): void;
}

interface Deps {
  /** Is there anything before what was read? */
  readonly more: () => boolean;
  /**
   * Reads the page before what was read, into what is shown. Answers with why it could not, or
   * null.
   */
  readonly read: (size: number) => Promise<string | null>;
  /** Rows of a page, for one more and on the way to the beginning. */
  readonly sizes: { readonly older: number; readonly all: number };
  readonly onReading?: (reading: Reading) => void;
}

export function createPages({ more, read, sizes, onReading }: Deps): Pages {
  let reading: Reading = 'nothing';
  let underway: Promise<string | null> | null = null;

  function set(next: Reading): void {
    if (next === reading) return;
    reading = next;
    onReading?.(next);
  }
  /** Asked again after every wait: it may have changed meanwhile. */
  const is = (what: Reading): boolean => reading === what;
  function page(size: number): Promise<string | null> {
    underway ??= read(size).finally(() => {
      underway = null;
    });
    return underway;
  }

  return {
    async older() {
      if (!is('nothing') || !more()) return null;
      set('older');
      const wrong = await page(sizes.older);
      if (is('older')) set('nothing');
      return wrong;
    },
    async toBeginning() {
      if (is('all')) return false;
      set('all');
      while (more()) {
        const wrong = await page(sizes.all);
        if (!is('all')) return false;
        if (wrong === null) continue;
        set('nothing');
        return false;
      }
      set('nothing');
      return true;
    },
    async until(isThere) {
      set('until');
      let wrong: string | null = null;
      while (!isThere() && more() && wrong === null && is('until')) wrong = await page(sizes.all);
      if (is('until')) set('nothing');
      return { there: isThere(), wrong };
    },
    stop: () => set('nothing'),
  };
}

// A list that the relay gives newest first, page by page: as much of it as somebody has asked to
// see.

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
