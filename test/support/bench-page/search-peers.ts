/**
 * The kept libraries that search in memory, over the same texts as ours, each with what it has of
 * what ours does.
 */
import { Index } from 'flexsearch';
import MiniSearch from 'minisearch';

/** `minisearch`: word beginnings, and typing errors forgiven; `flexsearch`: word beginnings. */
export type SearchPeer = 'minisearch' | 'flexsearch';

export interface PeerIndex {
  /** How many of the best are found, at most `limit`. */
  search(text: string, limit: number): number;
}

/** MiniSearch's own advice for words that may be wrong: one letter in five. */
const FUZZY = 0.2;
/** As ours: from so many letters on. */
const FORGIVE_FROM = 4;

function miniSearch(texts: readonly string[]): PeerIndex {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ['text'], storeFields: [] });
  index.addAll(texts.map((text, id) => ({ id, text })));
  return {
    search: (text, limit) =>
      index
        .search(text, {
          prefix: (_term, at, terms) => at === terms.length - 1,
          fuzzy: (term) => (term.length >= FORGIVE_FROM ? FUZZY : false),
          combineWith: 'AND',
        })
        .slice(0, limit).length,
  };
}

function flexSearch(texts: readonly string[]): PeerIndex {
  const index = new Index({ tokenize: 'forward' });
  texts.forEach((text, id) => index.add(id, text));
  return { search: (text, limit) => index.search(text, { limit }).length };
}

export const buildPeer = (peer: SearchPeer, texts: readonly string[]): PeerIndex =>
  peer === 'minisearch' ? miniSearch(texts) : flexSearch(texts);
