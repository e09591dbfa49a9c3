/** Writes the index: adds documents, compares the index with the ledger, and merges segments. */
import type { Doc } from '../../shared/protocol/documents.ts';
import type { After } from '../../shared/domain/platform/timers.ts';
import { isSearched, rowIdOf, SEARCH_SOURCES, searchableOf, type SearchSource, termsAbout } from './documents.ts';
import {
  createSegmentWriter,
  hashOf,
  openSegment,
  type Part,
  type Segment,
  type SegmentInfo,
  type Term,
} from './segment.ts';
import { SEARCH } from './settings.ts';
import { termsOf, visitTokens } from './words.ts';
import type { Ranked } from './query.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import { type IndexStore, type Manifest, withCache } from './store.ts';

// Collects the words of documents for a new segment, a slice of time at a time.

interface Buffer {
  /** Adds one document, in as many slices as it needs. */
  add(doc: Doc, pause: () => Promise<void>): Promise<void>;
  documents(): number;
  /** Is it time to write the segment? */
  isFull(): boolean;
  /** Writes the collected words as parts of a segment and clears the buffer. */
  write(
    id: number,
    pause: () => Promise<void>,
  ): Promise<{ readonly parts: readonly Part[]; readonly info: SegmentInfo }>;
}

function createBuffer(): Buffer {
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
      const searchable = searchableOf(doc);
      const id = rowIdOf(doc);
      if (id === null) return;
      const document = rows.length;
      rows.push({ id, time: Math.min(0xffffffff, Math.max(0, Math.floor((searchable?.time ?? 0) / 1_000))) });
      if (!searchable) return;
      for (const term of termsAbout(searchable)) note(term, document);
      const { text } = searchable;
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

// Merges several segments into one, without deleted documents. Words that only these had disappear.

interface MergeDeps {
  readonly id: number;
  readonly segments: readonly Segment[];
  readonly isGone: (docId: string) => boolean;
  /** Stores parts of a segment that is not read yet. */
  readonly put: (parts: readonly Part[]) => Promise<void>;
  /** Yields to other work when it is time. */
  readonly pause: () => Promise<void>;
}

/** Marks a deleted document. */
const GONE = 0xffffffff;

/** Iterates over the terms of one segment. */
async function createCursor(segment: Segment) {
  const parts = segment.terms('');
  let terms: readonly Term[] = [];
  let at = 0;
  const cursor = {
    segment,
    now: (): Term | undefined => terms[at],
    async next() {
      at += 1;
      while (at >= terms.length) {
        const part = await parts.next();
        if (part.done) return;
        terms = part.value;
        at = 0;
      }
    },
  };
  await cursor.next();
  return cursor;
}

/** Resolves with the new segment. Null: no documents are left. */
async function mergeSegments({ id, segments, isGone, put, pause }: MergeDeps): Promise<SegmentInfo | null> {
  const writer = createSegmentWriter(id);
  let written = 0;
  const renumbered = new Map<Segment, Uint32Array>();
  for (const segment of segments) {
    const numbers = new Uint32Array(segment.info.documents);
    for await (const { from, ids } of segment.allIds()) {
      ids.forEach((docId, i) => {
        const gone = isGone(docId);
        numbers[from + i] = gone ? GONE : written++;
        if (!gone) writer.document({ id: docId, time: segment.times[from + i] ?? 0 });
      });
      await pause();
    }
    renumbered.set(segment, numbers);
  }
  if (written === 0) return null;

  const cursors = await Promise.all(segments.map(createCursor));
  const merged = new Uint32Array(written);
  for (;;) {
    let least: string | undefined;
    for (const cursor of cursors) {
      const text = cursor.now()?.text;
      if (text !== undefined && (least === undefined || text < least)) least = text;
    }
    if (least === undefined) break;
    let count = 0;
    for (const cursor of cursors) {
      const term = cursor.now();
      if (term?.text !== least) continue;
      const numbers = renumbered.get(cursor.segment);
      const [list] = await cursor.segment.lists([term]);
      for (const document of list?.() ?? []) {
        const number = numbers?.[document] ?? GONE;
        if (number !== GONE) merged[count++] = number;
      }
      await cursor.next();
    }
    writer.term(least, merged, count);
    const ready = writer.ready();
    if (ready.length > 0) await put(ready);
    await pause();
  }
  const { parts, info } = writer.end();
  await put(parts);
  return info;
}

interface BuilderDeps {
  readonly ledger: SearchedLedger;
  readonly store: IndexStore;
  readonly after: After;
  readonly pause: () => Promise<void>;
  /** Progress of adding the documents that were missing at the start. */
  readonly onProgress: (done: number, of: number) => void;
}

export interface Builder {
  segments(): Promise<readonly Segment[]>;
  /** The index ids of these documents, in the same places. */
  idsOf(ranked: readonly Pick<Ranked, 'segment' | 'document'>[]): Promise<readonly string[]>;
  /** Adds new documents. */
  take(docs: readonly Doc[]): Promise<void>;
  /**
   * Adds what the ledger has and the index lacks, and deletes what the ledger no longer has. Now
   * and then it awaits `meanwhile`, which adds new documents. `waiting`: how many of those there
   * are now. Where only they are missing, there is nothing to compare, and the caller adds them.
   */
  compare(meanwhile: () => Promise<void>, waiting: () => number): Promise<void>;
  /** Merges segments where there are too many of one size. Resolves with whether there were. */
  merge(): Promise<boolean>;
  close(): void;
}

function grouped<Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

const countOf = (segments: readonly SegmentInfo[]) => segments.reduce((sum, { documents }) => sum + documents, 0);

/**
 * The size class of a segment: the logarithm of its documents, to the base of how many are merged.
 */
const stepOf = ({ documents }: SegmentInfo) =>
  Math.floor(Math.log(Math.max(1, documents)) / Math.log(SEARCH.segmentsOfSize));

export async function createBuilder({ ledger, store, after, pause, onProgress }: BuilderDeps): Promise<Builder> {
  const cache = withCache((keys) => store.read(keys), SEARCH.cacheBytes);
  let manifest = await store.manifest();
  let open = new Map<number, Promise<Segment>>();
  let stopForgetting: (() => void) | null = null;
  /** Hashes of documents added since a comparison began, because the comparison meets them too. */
  let lately: Set<number> | null = null;
  const isNew = (rowId: string) => {
    const hash = hashOf(rowId);
    if (lately?.has(hash) === true) return false;
    lately?.add(hash);
    return true;
  };
  const segmentOf = (info: SegmentInfo) => {
    const known = open.get(info.id) ?? openSegment(info, cache.read);
    open.set(info.id, known);
    known.catch(() => open.delete(info.id));
    return known;
  };
  const opened = () => Promise.all(manifest.segments.map(segmentOf));
  /** Frees the memory after a time without searches. */
  function used() {
    stopForgetting?.();
    stopForgetting = after(SEARCH.cacheFor, freeMemory);
  }
  function freeMemory() {
    cache.clear();
    open = new Map();
  }

  async function commit(whole: Manifest, parts?: Parameters<IndexStore['commit']>[1]) {
    await store.commit(whole, parts);
    manifest = whole;
    const kept = new Set(whole.segments.map(({ id }) => id));
    for (const id of open.keys()) if (!kept.has(id)) open.delete(id);
  }

  async function flush(buffer: Buffer) {
    if (buffer.documents() === 0) return;
    const id = manifest.next;
    const { parts, info } = await buffer.write(id, pause);
    await commit({ ...manifest, segments: [...manifest.segments, info], next: id + 1 }, parts);
  }

  /** Replaces several segments by one, without deleted documents. */
  async function replace(segments: readonly Segment[], isGone: (rowId: string) => boolean) {
    const id = manifest.next;
    manifest = { ...manifest, next: id + 1 };
    const info = await mergeSegments({ id, segments, isGone, put: (parts) => store.put(parts), pause });
    const old = new Set(segments.map(({ info: { id: each } }) => each));
    const left = manifest.segments.filter(({ id: each }) => !old.has(each));
    await commit({ ...manifest, segments: info ? [...left, info] : left });
  }

  /** Hashes of all ids in the index, sorted. */
  async function known(): Promise<Float64Array> {
    const hashes = new Float64Array(countOf(manifest.segments));
    let at = 0;
    for (const segment of await opened()) {
      for await (const { ids } of segment.allIds()) {
        for (const id of ids) hashes[at++] = hashOf(id);
        await pause();
      }
    }
    return hashes.sort();
  }

  /** Finds stretches of ids that the index lacks, and which hashes of the index the ledger has. */
  async function compare(hashes: Float64Array) {
    const there = new Uint8Array(hashes.length);
    const stretches: { readonly source: SearchSource; readonly after: string | null }[] = [];
    let missing = 0;
    for (const source of SEARCH_SOURCES) {
      let last: string | null = null;
      for (;;) {
        const ids: readonly string[] = await ledger.ids({ ...source, after: last, limit: SEARCH.idsAtOnce });
        const lacking = ids.filter((id) => {
          const place = indexOf(hashes, hashOf(source.letter + id));
          if (place >= 0) there[place] = 1;
          return place < 0;
        }).length;
        if (lacking > 0) stretches.push({ source, after: last });
        missing += lacking;
        last = ids.at(-1) ?? last;
        await pause();
        if (ids.length < SEARCH.idsAtOnce) break;
      }
    }
    return { there, stretches, missing };
  }

  /** Deletes documents that the ledger no longer has. */
  async function letGoOf(isGone: (rowId: string) => boolean) {
    for (const segment of await opened()) {
      let isDropped = false;
      for await (const { ids } of segment.allIds()) {
        isDropped = ids.some(isGone);
        await pause();
        if (isDropped) break;
      }
      if (isDropped) await replace([segment], isGone);
    }
  }

  async function catchUp(meanwhile: () => Promise<void>) {
    const hashes = await known();
    const { there, stretches, missing } = await compare(hashes);
    if (there.includes(0)) await letGoOf((rowId) => there[indexOf(hashes, hashOf(rowId))] === 0);
    let done = 0;
    if (missing > 0) onProgress(done, missing);
    const buffer = createBuffer();
    // The newest documents are added first.
    for (const { source, after: last } of stretches.reverse()) {
      const ids = await ledger.ids({ ...source, after: last, limit: SEARCH.idsAtOnce });
      const lacking = ids.filter((id) => indexOf(hashes, hashOf(source.letter + id)) < 0);
      for (let from = 0; from < lacking.length; from += SEARCH.documentsAtOnce) {
        const places = lacking.slice(from, from + SEARCH.documentsAtOnce).map((id) => ({ store: source.store, id }));
        for (const doc of await ledger.documentsAt(places)) {
          if (isNew(rowIdOf(doc) ?? '')) await buffer.add(doc, pause);
          done += 1;
        }
        await pause();
        onProgress(done, Math.max(done, missing));
        if (buffer.isFull()) await flush(buffer);
        await meanwhile();
      }
    }
    await flush(buffer);
  }

  return {
    segments() {
      used();
      return opened();
    },
    async idsOf(ranked) {
      const ids = new Array<string>(ranked.length).fill('');
      const bySegment = grouped(
        ranked.map(({ segment, document }, i) => ({ segment, document, i })),
        ({ segment }) => segment,
      );
      await Promise.all(
        [...bySegment].map(async ([segment, rows]) => {
          const found = await segment.ids(rows.map(({ document }) => document));
          rows.forEach(({ i }, n) => (ids[i] = found[n] ?? ''));
        }),
      );
      return ids;
    },
    async take(docs) {
      const buffer = createBuffer();
      for (const doc of docs) {
        if (!isNew(rowIdOf(doc) ?? '')) continue;
        await buffer.add(doc, pause);
        if (buffer.isFull()) await flush(buffer);
      }
      await flush(buffer);
    },
    async compare(meanwhile, waiting) {
      let views: string;
      for (let tries = 1; ; tries++) {
        const before = waiting();
        const counted = await ledger.counted();
        ({ views } = counted);
        const there = counted.kinds.reduce((sum, { type, documents }) => sum + (isSearched(type) ? documents : 0), 0);
        // Forgetting writes new views. So the same views with as many documents hold the same
        // documents.
        if (views === manifest.views && there === countOf(manifest.segments) + before) return;
        // A document that came meanwhile may be counted or not. Then the ledger counts again.
        if (waiting() === before || tries === SEARCH.countTries) break;
      }
      lately = new Set();
      try {
        await meanwhile();
        await catchUp(meanwhile);
        await meanwhile();
      } finally {
        lately = null;
      }
      await commit({ ...manifest, views });
    },
    async merge() {
      const bySize = grouped(
        manifest.segments.filter(({ documents }) => documents < SEARCH.largestSegment),
        stepOf,
      );
      const many = [...bySize.values()].find((segments) => segments.length >= SEARCH.segmentsOfSize);
      if (!many) return false;
      await replace(await Promise.all(many.map(segmentOf)), () => false);
      return true;
    },
    close() {
      stopForgetting?.();
      freeMemory();
      store.close();
    },
  };
}

/** The position of a value in a sorted list, or -1. */
function indexOf(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const held = sorted[middle] ?? 0;
    if (held === value) return middle;
    if (held < value) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
