/**
 * A segment: some documents of the index and all words of theirs, written once and never changed.
 * It lies in parts, each small enough to be read alone:
 *
 * - `terms` n: words in order, each as what it shares with the one before it, the rest of it in
 *   UTF-16 units, how many documents have it, and how many bytes their list takes; the first of
 *   each part shares nothing;
 * - `lists` n: those lists, end to end, of the numbers of documents, each as its distance from the
 *   one before;
 * - `ids` n: ids of documents, as text;
 * - `about`: their times, and where each part of the terms begins.
 */
import { createByteWriter, sealed } from './bytes.ts';
import { SEARCH } from './settings.ts';

export type PartKind = 'terms' | 'lists' | 'ids' | 'about';
/** [segment, kind, number] */
export type PartKey = readonly [segment: number, kind: PartKind, n: number];
export interface Part {
  readonly key: PartKey;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is known of a segment before any of it is read. */
export interface SegmentInfo {
  readonly id: number;
  readonly documents: number;
  /** Bytes of all its parts. */
  readonly bytes: number;
}

/** A document's row. */
export interface IndexedDocument {
  readonly id: string;
  /** s since the epoch */
  readonly time: number;
}

export interface SegmentWriter {
  document(row: IndexedDocument): void;
  /** Terms in order of their UTF-16 units, each with its documents in order. */
  term(text: string, documents: ArrayLike<number>, count: number): void;
  /** Parts that are whole by now, each handed out once. */
  ready(): Part[];
  /** The last parts. Nothing may be added after it. */
  end(): { readonly parts: Part[]; readonly info: SegmentInfo };
}

export function createSegmentWriter(id: number): SegmentWriter {
  let parts: Part[] = [];
  let bytes = 0;
  const numbers: Record<PartKind, number> = { terms: 0, lists: 0, ids: 0, about: 0 };
  const put = (kind: PartKind, content: Uint8Array) => {
    const whole = sealed(content);
    bytes += whole.length;
    parts.push({ key: [id, kind, numbers[kind]++], bytes: whole });
  };

  const terms = createByteWriter();
  const lists = createByteWriter();
  const list = createByteWriter();
  const starts: { readonly term: string; readonly at: number }[] = [];
  let listed = 0;
  let before = '';
  let ids: string[] = [];
  const times: number[] = [];

  function flushLists(all: boolean) {
    if (lists.length() < (all ? 1 : SEARCH.postingsBytes)) return;
    // Parts are of one length but the last, so that a place says in which it lies.
    const content = lists.take();
    let at = 0;
    while (content.length - at >= SEARCH.postingsBytes) {
      put('lists', content.subarray(at, at + SEARCH.postingsBytes));
      at += SEARCH.postingsBytes;
    }
    if (all && at < content.length) put('lists', content.subarray(at));
    else lists.bytes(content.subarray(at));
  }
  function flushIds() {
    if (ids.length > 0) put('ids', new TextEncoder().encode(JSON.stringify(ids)));
    ids = [];
  }

  return {
    document({ id: docId, time }) {
      ids.push(docId);
      times.push(time);
      if (ids.length === SEARCH.idsInPart) flushIds();
    },
    term(text, documents, count) {
      if (count === 0) return;
      if (terms.length() >= SEARCH.blockBytes) put('terms', terms.take());
      let shared = 0;
      if (terms.length() === 0) starts.push({ term: text, at: listed });
      else while (shared < before.length && before.charCodeAt(shared) === text.charCodeAt(shared)) shared += 1;
      terms.number(shared);
      terms.number(text.length - shared);
      for (let i = shared; i < text.length; i++) terms.number(text.charCodeAt(i));
      before = text;
      let last = -1;
      for (let i = 0; i < count; i++) {
        const document = documents[i] ?? 0;
        list.number(document - last - 1);
        last = document;
      }
      terms.number(count);
      terms.number(list.length());
      listed += list.length();
      lists.bytes(list.take());
      flushLists(false);
    },
    ready() {
      const ready = parts;
      parts = [];
      return ready;
    },
    end() {
      if (terms.length() > 0) put('terms', terms.take());
      flushLists(true);
      flushIds();
      const about = createByteWriter();
      about.number(times.length);
      for (const time of times) about.number(time);
      about.number(starts.length);
      for (const { term, at } of starts) {
        about.number(term.length);
        for (let i = 0; i < term.length; i++) about.number(term.charCodeAt(i));
        about.number(at);
      }
      put('about', about.take());
      return { parts: this.ready(), info: { id, documents: times.length, bytes } };
    },
  };
}
