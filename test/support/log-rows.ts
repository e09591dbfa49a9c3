/**
 * What stands in the open conversation, row by row, and which of it answers what was just said: for
 * a person in any engine.
 */

export interface LogRow {
  /** The same as long as the row is there; `key#1` goes on with the message of `key`. */
  readonly key: string;
  /** null: a divider. `other`: somebody who wrote to the agent whose conversation this is. */
  readonly by: 'person' | 'agent' | 'other' | null;
  /** Shown as final: not being written, not under way. */
  readonly done: boolean;
  readonly words: string;
}

export interface LogOnPage {
  /** Has the conversation been read and drawn? An empty one shows a sentence. */
  readonly drawn: boolean;
  /** Can the answer be stopped: is somebody still at it? */
  readonly answering: boolean;
  /** Only what is in sight and around it. */
  readonly rows: readonly LogRow[];
}

/** Runs in the page, on its own: it reaches for nothing outside of itself. */
export function readLog(): LogOnPage {
  const log = document.querySelector<HTMLElement>('.log');
  const rows = [...document.querySelectorAll<HTMLElement>('.log [data-key]')].map((row): LogRow => {
    const article = row.querySelector('article');
    const words = row.querySelector<HTMLElement>('.msg-words');
    return {
      key: row.dataset['key'] ?? '',
      by: !article
        ? null
        : article.matches('.msg-mine')
          ? 'person'
          : article.matches('.msg-received')
            ? 'other'
            : 'agent',
      done: row.dataset['kind'] === 'message',
      words: words?.innerText.trim() ?? '',
    };
  });
  return {
    // Rows are out of sight until they have been measured.
    drawn: (log?.innerText.trim() ?? '') !== '' && log?.getAttribute('aria-busy') !== 'true',
    answering: document.querySelector('button[aria-label="Stop"], .log .writing') !== null,
    rows,
  };
}

const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/**
 * Waits for the answer to `text`, which is said after `before` was read: give it the log again and
 * again; null while there is no answer that is done. An answer is what the agent said after the
 * person's own new row with that text, and nothing else: what was there earlier may be drawn at any
 * moment.
 */
export function listenFor(text: string, before: LogOnPage): (now: LogOnPage) => string | null {
  const earlier = new Set(before.rows.map(({ key }) => key));
  let own: string | null = null;
  return ({ answering, rows }) => {
    const said = rows.findLast(
      ({ key, by, words }) => by === 'person' && !earlier.has(key) && plain(words).includes(plain(text)),
    );
    own = said?.key ?? own;
    if (own === null || answering || said?.done === false) return null;
    // A long answer may have pushed what it answers out of sight: then all that is on the page
    // comes after that.
    const after = rows.slice(rows.findIndex(({ key }) => key === own) + 1);
    const newest = after.findLast(({ key, by }) => by === 'agent' && !earlier.has(key));
    return newest?.done === true && newest.words !== '' ? newest.words : null;
  };
}
