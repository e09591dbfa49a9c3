/**
 * Reading something backwards, from its newest page to its very beginning. One page is read at a
 * time, whoever asks.
 */

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
