/** Documents on their way into a segment: their words are gathered here, a slice at a time. */
import type { Doc } from '../../shared/protocol/documents.ts';
import { rowIdOf, searchableOf, termsAbout } from './documents.ts';
import { createSegmentWriter, type Part, type SegmentInfo } from './segment-write.ts';
import { SEARCH } from './settings.ts';
import { termsOf, visitTokens } from './words.ts';

export interface Buffer {
  /** Takes one document, in as many slices as it needs. */
  add(doc: Doc, pause: () => Promise<void>): Promise<void>;
  documents(): number;
  /** Is it time to write it? */
  isFull(): boolean;
  /** Empties it into parts of a segment. */
  write(
    id: number,
    pause: () => Promise<void>,
  ): Promise<{ readonly parts: readonly Part[]; readonly info: SegmentInfo }>;
}

export function createBuffer(): Buffer {
  let rows: { readonly id: string; readonly time: number }[] = [];
  let lists = new Map<string, number[]>();
  let places = 0;
  function note(term: string, document: number) {
    const list = lists.get(term);
    if (!list) lists.set(term, [document]);
    else if (list.at(-1) === document) return;
    else list.push(document);
    places += 1;
  }
  return {
    async add(doc, pause) {
      const found = searchableOf(doc);
      const id = rowIdOf(doc);
      if (id === null) return;
      const document = rows.length;
      rows.push({ id, time: Math.min(0xffffffff, Math.max(0, Math.floor((found?.time ?? 0) / 1_000))) });
      if (!found) return;
      for (const term of termsAbout(found)) note(term, document);
      const { text } = found;
      for (let at = 0; at < text.length;) {
        at = visitTokens(text, at, at + SEARCH.charsAtOnce, (token) => {
          for (const term of termsOf(token)) note(term, document);
        });
        await pause();
      }
    },
    documents: () => rows.length,
    isFull: () => rows.length >= SEARCH.segmentDocuments || places >= SEARCH.segmentPlaces,
    async write(id, pause) {
      const writer = createSegmentWriter(id);
      for (const row of rows) writer.document(row);
      const terms = [...lists.keys()].sort();
      for (const term of terms) {
        const list = lists.get(term) ?? [];
        writer.term(term, list, list.length);
        await pause();
      }
      rows = [];
      lists = new Map();
      places = 0;
      return writer.end();
    },
  };
}
