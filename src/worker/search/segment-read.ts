/** Reading a segment: only the parts that are asked for. See segment-write.ts for how they lie. */
import { createByteReader, DamagedIndexError } from './bytes.ts';
import type { PartKey, SegmentInfo } from './segment-write.ts';
import { SEARCH } from './settings.ts';

/**
 * Bytes of parts, without their check. Rejects with a DamagedIndexError for what is not there or
 * does not fit its check.
 */
export type ReadParts = (keys: readonly PartKey[]) => Promise<readonly Uint8Array[]>;

/** A word of a segment, and where the list of its documents lies. */
export interface Term {
  readonly text: string;
  readonly documents: number;
  /** Bytes from the beginning of all lists, and how many. */
  readonly at: number;
  readonly length: number;
}

export interface Segment {
  readonly info: SegmentInfo;
  /** Of each document, s since the epoch. */
  readonly times: Uint32Array;
  /** Terms from this one on, in order, part by part, as long as more are taken. */
  terms(from: string): AsyncGenerator<readonly Term[]>;
  /** Numbers of the documents of each, in order. */
  lists(terms: readonly Pick<Term, 'at' | 'length' | 'documents'>[]): Promise<readonly Uint32Array[]>;
  /** Ids of documents by their numbers. */
  ids(documents: readonly number[]): Promise<readonly string[]>;
  /**
   * Ids of all documents in order, part by part, with the number of the first, as long as more are
   * taken.
   */
  allIds(): AsyncGenerator<{ readonly from: number; readonly ids: readonly string[] }>;
}

function termsIn(bytes: Uint8Array, at: number): Term[] {
  const terms: Term[] = [];
  const reader = createByteReader(bytes);
  let before = '';
  let place = at;
  while (!reader.atEnd()) {
    const shared = reader.number();
    const rest = reader.number();
    let text = before.slice(0, shared);
    for (let i = 0; i < rest; i++) text += String.fromCharCode(reader.number());
    const documents = reader.number();
    const length = reader.number();
    terms.push({ text, documents, at: place, length });
    place += length;
    before = text;
  }
  return terms;
}

const parseIds = (bytes: Uint8Array): readonly string[] => {
  const ids: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (!Array.isArray(ids)) throw new DamagedIndexError('A list of ids is none.');
  return ids.map(String);
};

/**
 * The list of one term, from bytes that hold it. Without a reader: a common beginning has a million
 * places.
 */
function listIn(bytes: Uint8Array, at: number, length: number, count: number, documents: number): Uint32Array {
  const list = new Uint32Array(count);
  const end = at + length;
  let place = at;
  let last = -1;
  for (let i = 0; i < count; i++) {
    let step = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[place++] ?? 0;
      step |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    last += step + 1;
    if (last >= documents || place > end)
      throw new DamagedIndexError('A word is said to stand in a document that is not there.');
    list[i] = last;
  }
  return list;
}

export async function openSegment(info: SegmentInfo, read: ReadParts): Promise<Segment> {
  const part = (kind: PartKey[1], n: number): PartKey => [info.id, kind, n];
  const [about] = await read([part('about', 0)]);
  if (!about) throw new DamagedIndexError('A segment is missing.');
  const reader = createByteReader(about);
  const times = new Uint32Array(reader.number());
  if (times.length !== info.documents) throw new DamagedIndexError('A segment has not the documents that it should.');
  for (let i = 0; i < times.length; i++) times[i] = reader.number();
  const starts: { readonly term: string; readonly at: number }[] = [];
  for (let left = reader.number(); left > 0; left--) {
    let term = '';
    for (let units = reader.number(); units > 0; units--) term += String.fromCharCode(reader.number());
    starts.push({ term, at: reader.number() });
  }
  async function idsOf(documents: readonly number[]): Promise<readonly string[]> {
    const numbers = [...new Set(documents.map((document) => Math.floor(document / SEARCH.idsInPart)))];
    const parts = await read(numbers.map((n) => part('ids', n)));
    const lists = new Map(parts.map((bytes, i) => [numbers[i] ?? 0, parseIds(bytes)]));
    return documents.map((document) => {
      const id = lists.get(Math.floor(document / SEARCH.idsInPart))?.[document % SEARCH.idsInPart];
      if (id === undefined) throw new DamagedIndexError('A document of the index has no id.');
      return id;
    });
  }
  return {
    info,
    times,
    async *terms(from) {
      let first = starts.findIndex(({ term }) => term > from);
      first = first < 0 ? starts.length - 1 : Math.max(0, first - 1);
      for (let n = first; n >= 0 && n < starts.length; n++) {
        const [bytes] = await read([part('terms', n)]);
        if (!bytes) return;
        const terms = termsIn(bytes, starts[n]?.at ?? 0);
        yield n === first ? terms.filter(({ text }) => text >= from) : terms;
      }
    },
    async lists(terms) {
      const size = SEARCH.postingsBytes;
      const needed = new Set<number>();
      for (const { at, length } of terms)
        for (let n = Math.floor(at / size); n <= Math.floor((at + length - 1) / size); n++) needed.add(n);
      const numbers = [...needed];
      const parts = new Map<number, Uint8Array>();
      (await read(numbers.map((n) => part('lists', n)))).forEach((bytes, i) => parts.set(numbers[i] ?? 0, bytes));
      return terms.map(({ at, length, documents }) => {
        const n = Math.floor(at / size);
        const from = at - n * size;
        const bytes = parts.get(n) ?? new Uint8Array();
        if (from + length <= bytes.length) return listIn(bytes, from, length, documents, times.length);
        // It goes on in the next part, or in several.
        const whole = new Uint8Array(length);
        let held = 0;
        for (let next = n; held < length; next++) {
          const more = parts.get(next)?.subarray(next === n ? from : 0);
          if (!more || more.length === 0) throw new DamagedIndexError('A list of documents ends too early.');
          whole.set(more.subarray(0, length - held), held);
          held += Math.min(more.length, length - held);
        }
        return listIn(whole, 0, length, documents, times.length);
      });
    },
    ids: idsOf,
    async *allIds() {
      for (let from = 0; from < times.length; from += SEARCH.idsInPart) {
        const numbers = Array.from({ length: Math.min(SEARCH.idsInPart, times.length - from) }, (_, i) => from + i);
        yield { from, ids: await idsOf(numbers) };
      }
    },
  };
}
