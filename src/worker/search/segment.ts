/**
 * A segment of the search index: its format, its writer and its reader.
 *
 * A segment holds some documents and all their words. It is written once and never changed. Every
 * part has a checksum. A part that does not match it throws a `DamagedIndexError`.
 */
import { createCrc32 } from '../../shared/domain/crc32.ts';
import { SEARCH } from './settings.ts';

// Variable-length numbers (LEB128), and the checksum of stored bytes.

/** Stored bytes differ from what was written. The index is then deleted and rebuilt. */
export class DamagedIndexError extends Error {
  override readonly name = 'DamagedIndexError';
}

interface ByteWriter {
  number(value: number): void;
  /** Appends bytes unchanged. */
  bytes(value: Uint8Array): void;
  length(): number;
  /** The bytes written since the last call, as a copy. */
  take(): Uint8Array<ArrayBuffer>;
}

function createByteWriter(): ByteWriter {
  let bytes = new Uint8Array(1_024);
  let length = 0;
  const room = (more: number) => {
    if (length + more <= bytes.length) return;
    const larger = new Uint8Array(Math.max(bytes.length * 2, length + more));
    larger.set(bytes.subarray(0, length));
    bytes = larger;
  };
  return {
    number(value) {
      room(5);
      let left = value;
      while (left > 0x7f) {
        bytes[length++] = (left & 0x7f) | 0x80;
        left >>>= 7;
      }
      bytes[length++] = left;
    },
    bytes(value) {
      room(value.length);
      bytes.set(value, length);
      length += value.length;
    },
    length: () => length,
    take() {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
  };
}

interface ByteReader {
  /** Below 2^32. Throws a DamagedIndexError at the end of the bytes. */
  number(): number;
  at(): number;
  atEnd(): boolean;
}

function createByteReader(bytes: Uint8Array, from = 0, to = bytes.length): ByteReader {
  let at = from;
  return {
    number() {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = at < to ? bytes[at++] : undefined;
        if (byte === undefined || shift > 28) throw new DamagedIndexError('A part of the index ends too early.');
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value >>> 0;
      }
    },
    at: () => at,
    atEnd: () => at >= to,
  };
}

/** Appends the checksum to the bytes. */
function sealed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const crc = createCrc32();
  crc.update(bytes);
  const all = new Uint8Array(bytes.length + 4);
  all.set(bytes);
  new DataView(all.buffer).setUint32(bytes.length, crc.value());
  return all;
}

/**
 * Returns the bytes without their checksum. Throws a DamagedIndexError where it does not match.
 * `check`: false for bytes that matched before.
 */
export function unsealed(all: unknown, check: boolean): Uint8Array {
  if (!(all instanceof Uint8Array) || all.length < 4) throw new DamagedIndexError('A part of the index is missing.');
  const bytes = all.subarray(0, all.length - 4);
  if (!check) return bytes;
  const crc = createCrc32();
  crc.update(bytes);
  if (new DataView(all.buffer, all.byteOffset).getUint32(bytes.length) !== crc.value())
    throw new DamagedIndexError('A part of the index is not as it was written.');
  return bytes;
}

/** 53 bits that tell ids apart. */
export function hashOf(id: string): number {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
    b = (b << 13) | (b >>> 19);
  }
  a ^= b >>> 15;
  b = Math.imul(b ^ (a >>> 16), 0xc2b2ae35);
  return (a >>> 0) * 0x200000 + ((b ^ (b >>> 13)) & 0x1fffff);
}

// The format of a segment. It consists of parts, each small enough to be read alone:
//
// - `terms` n: words in order. Each has the length of the prefix that it shares with the word
//   before it, the rest in UTF-16 units, the number of its documents, and the bytes of their list.
//   The first word of each part shares nothing.
// - `lists` n: these lists, one after the other. Each is the numbers of documents, as distances.
// - `ids` n: ids of documents, as text.
// - `about`: times of the documents, and where each part of the terms begins.

type PartKind = 'terms' | 'lists' | 'ids' | 'about';
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
interface IndexedDocument {
  readonly id: string;
  /** s since the epoch */
  readonly time: number;
}

interface SegmentWriter {
  document(row: IndexedDocument): void;
  /**
   * Adds a term with its documents. Terms come in the order of their UTF-16 units, documents in
   * ascending order.
   */
  term(text: string, documents: ArrayLike<number>, count: number): void;
  /** Parts that are complete by now. Each is returned once. */
  ready(): Part[];
  /** The last parts. Nothing may be added afterwards. */
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
    // All parts but the last have one length, so an offset determines its part.
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

// Reads a segment, and of it only the parts that are needed. See above for the format.

/**
 * Bytes of parts, without their checksums. Rejects with a DamagedIndexError for a missing or
 * damaged part.
 */
export type ReadParts = (keys: readonly PartKey[]) => Promise<readonly Uint8Array[]>;

/** A word of a segment, and where the list of its documents is. */
export interface Term {
  readonly text: string;
  readonly documents: number;
  /** Offset in all lists, and length. Bytes. */
  readonly at: number;
  readonly length: number;
}

/**
 * Decodes the documents of a term, in ascending order. They are valid until another list of the
 * segment is decoded: a common word has a million.
 */
export type DocumentList = () => Uint32Array;

export interface Segment {
  readonly info: SegmentInfo;
  /** Time of each document, in s since the epoch. */
  readonly times: Uint32Array;
  /** Terms from this one on, in order. Parts are read as the caller takes them. */
  terms(from: string): AsyncGenerator<readonly Term[]>;
  lists(terms: readonly Pick<Term, 'at' | 'length' | 'documents'>[]): Promise<readonly DocumentList[]>;
  /** Ids of documents by their numbers. */
  ids(documents: readonly number[]): Promise<readonly string[]>;
  /**
   * Ids of all documents in order, with the number of the first of each part. Parts are read as the
   * caller takes them.
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
 * Decodes the list of one term into `numbers`, whose length is the number of documents of the
 * segment. It uses no reader, for speed.
 */
function listIn(bytes: Uint8Array, at: number, length: number, count: number, numbers: Uint32Array): Uint32Array {
  const end = at + length;
  let place = at;
  let last = -1;
  for (let i = 0; i < count; i++) {
    // Nearly every distance is one byte.
    let byte = bytes[place++] ?? 0;
    let step = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[place++] ?? 0;
      step |= (byte & 0x7f) << shift;
    }
    last += step + 1;
    numbers[i] = last;
  }
  // The numbers ascend, so the last is the largest.
  if (last >= numbers.length || place > end)
    throw new DamagedIndexError('A word is said to stand in a document that is not there.');
  return numbers.subarray(0, count);
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
  let decoded: Uint32Array | null = null;
  const decode = (bytes: Uint8Array, at: number, length: number, count: number) =>
    listIn(bytes, at, length, count, (decoded ??= new Uint32Array(times.length)));
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
        if (from + length <= bytes.length) return () => decode(bytes, from, length, documents);
        // The list continues in the next parts.
        const whole = new Uint8Array(length);
        let heldBytes = 0;
        for (let next = n; heldBytes < length; next++) {
          const more = parts.get(next)?.subarray(next === n ? from : 0);
          if (!more || more.length === 0) throw new DamagedIndexError('A list of documents ends too early.');
          whole.set(more.subarray(0, length - heldBytes), heldBytes);
          heldBytes += Math.min(more.length, length - heldBytes);
        }
        return () => decode(whole, 0, length, documents);
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
