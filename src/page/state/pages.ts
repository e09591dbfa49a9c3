/**
 * Loads a list backwards, from its newest page to its very beginning. One page is loaded at a time,
 * however many callers ask.
 */
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';

/**
 * `older`: one more page. `all`: page after page to the very beginning. `until`: up to a searched
 * item.
 */
export type Reading = 'nothing' | 'older' | 'all' | 'until';

export interface Pages {
  /** Loads one more page unless one is loading. Returns an error for people, or null. */
  older(): Promise<string | null>;
  /** Loads everything. False if `stop` was called or a page failed. */
  toBeginning(): Promise<boolean>;
  /** Loads backwards until `isThere`. Returns whether it is; if not, the error or null. */
  until(isThere: () => boolean): Promise<{ readonly there: boolean; readonly wrong: string | null }>;
  /** Keeps what is loaded. */
  stop(): void;
}

interface Deps {
  /** Is there anything before the loaded part? */
  readonly more: () => boolean;
  /** Loads the page before the loaded part and shows it. Returns an error for people, or null. */
  readonly read: (size: number) => Promise<string | null>;
  /** Rows per page: for one more, and on the way to the beginning. */
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
  /** Checked after every wait, since it may have changed. */
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

// A list that the relay returns newest first, page by page, as far as the reader has asked for.

interface Rows<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Older rows exist. */
  readonly more: boolean;
}

export interface Paged<Row> extends Query<Rows<Row>> {
  readonly pages: Pages;
}

interface PagedDeps<Row, Id> extends Omit<QueryDeps<Rows<Row>>, 'ask'> {
  readonly askPage: (page: { readonly before: Id | null; readonly limit: number }) => Promise<RelayResult<Rows<Row>>>;
  /** The id that `before` refers to. */
  readonly idOf: (row: Row) => Id;
  /** Rows per page, and per page on the way to the very beginning. */
  readonly size: number;
  readonly sizeOfAll?: number;
  /** Rows never change. After a change, only missing rows are requested. */
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

  /** The newest rows: as many as are shown, or down to the known ones. */
  async function ask(): Promise<RelayResult<Rows<Row>>> {
    const rows: Row[] = [];
    for (;;) {
      const page = await askPage({ before: lastOf(rows), limit: size });
      if (!page.ok) return page;
      rows.push(...page.value.rows);
      const shownBefore = shown();
      const ids = shownBefore.rows.map(idOf);
      const met = fixed && page.value.rows.some((row) => ids.includes(idOf(row)));
      const enough = met || ids.length === 0 || (!fixed && rows.length >= ids.length);
      if (page.value.more && page.value.rows.length > 0 && !enough) continue;
      if (!met) return { ok: true, value: { rows, more: page.value.more } };
      // Rows added during the request go before the answer, and older loaded rows after it.
      const at = (row: Row | undefined) => (row === undefined ? -1 : ids.indexOf(idOf(row)));
      const newer = shownBefore.rows.slice(0, Math.max(0, at(rows[0])));
      const last = at(rows.at(-1));
      return {
        ok: true,
        value: {
          rows: [...newer, ...rows, ...(last < 0 ? [] : shownBefore.rows.slice(last + 1))],
          more: last < 0 ? page.value.more : shownBefore.more,
        },
      };
    }
  }

  async function readOlder(limit: number): Promise<string | null> {
    for (;;) {
      const before = lastOf(shown().rows);
      const page = await askPage({ before, limit });
      if (!page.ok) return problemText(page.problem);
      // If the list was reloaded meanwhile, this page may not be the next one.
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
