/**
 * Writes the index: takes documents, compares with the ledger what stands in it, and keeps its
 * segments few.
 */
import type { After } from '../../shared/domain/platform/timers.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { createBuffer, type Buffer } from './buffer.ts';
import { hashOf } from './bytes.ts';
import { isSearched, rowIdOf, SEARCH_SOURCES, type SearchSource } from './documents.ts';
import { mergeSegments } from './merge.ts';
import type { Ranked } from './query.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import { openSegment, type Segment } from './segment-read.ts';
import type { SegmentInfo } from './segment-write.ts';
import { SEARCH } from './settings.ts';
import { withCache, type IndexStore, type Manifest } from './store.ts';

export interface BuilderDeps {
  readonly ledger: SearchedLedger;
  readonly store: IndexStore;
  readonly after: After;
  readonly pause: () => Promise<void>;
  /** Of the documents that were missing when it began. */
  readonly onProgress: (done: number, of: number) => void;
}

export interface Builder {
  segments(): Promise<readonly Segment[]>;
  /** The documents' ids in the index, in the same places. */
  idsOf(ranked: readonly Pick<Ranked, 'segment' | 'document'>[]): Promise<readonly string[]>;
  /** Takes documents that were not there before. */
  take(docs: readonly Doc[]): Promise<void>;
  /**
   * Takes in what the ledger has and the index has not, and lets go of what the ledger has not any
   * more. `meanwhile` is awaited now and then, and takes what came in.
   */
  compare(meanwhile: () => Promise<void>): Promise<void>;
  /** Makes one of several segments, where there are too many. Answers whether there were. */
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

/** The size of a segment, in steps of how many become one. */
const stepOf = ({ documents }: SegmentInfo) =>
  Math.floor(Math.log(Math.max(1, documents)) / Math.log(SEARCH.segmentsOfSize));

export async function createBuilder({ ledger, store, after, pause, onProgress }: BuilderDeps): Promise<Builder> {
  const cache = withCache((keys) => store.read(keys), SEARCH.cacheBytes);
  let manifest = await store.manifest();
  let open = new Map<number, Promise<Segment>>();
  let stopForgetting: (() => void) | null = null;
  /** Hashes of what was taken since a comparison began: it meets new documents too. */
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
  /** Memory is for those who search; nobody does for most of the time. */
  function used() {
    stopForgetting?.();
    stopForgetting = after(SEARCH.cacheFor, letGo);
  }
  function letGo() {
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

  /** Puts one segment in the place of several, without what is gone. */
  async function replace(segments: readonly Segment[], isGone: (rowId: string) => boolean) {
    const id = manifest.next;
    manifest = { ...manifest, next: id + 1 };
    const info = await mergeSegments({ id, segments, isGone, put: (parts) => store.put(parts), pause });
    const old = new Set(segments.map(({ info: { id: each } }) => each));
    const left = manifest.segments.filter(({ id: each }) => !old.has(each));
    await commit({ ...manifest, segments: info ? [...left, info] : left });
  }

  /** Hashes of all ids in the index, in order. */
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

  /**
   * What of the ledger is missing, as stretches of ids, and which hashes of the index the ledger
   * has.
   */
  async function look(hashes: Float64Array) {
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

  /** Takes out what the ledger has not any more. */
  async function letGoOf(isGone: (rowId: string) => boolean) {
    for (const segment of await opened()) {
      let gone = false;
      for await (const { ids } of segment.allIds()) {
        gone = ids.some(isGone);
        await pause();
        if (gone) break;
      }
      if (gone) await replace([segment], isGone);
    }
  }

  async function catchUp(meanwhile: () => Promise<void>) {
    const hashes = await known();
    const { there, stretches, missing } = await look(hashes);
    if (there.includes(0)) await letGoOf((rowId) => there[indexOf(hashes, hashOf(rowId))] === 0);
    let done = 0;
    if (missing > 0) onProgress(done, missing);
    const buffer = createBuffer();
    // What was said last is taken first.
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
    async compare(meanwhile) {
      const { views, kinds } = await ledger.counted();
      const there = kinds.reduce((sum, { type, documents }) => sum + (isSearched(type) ? documents : 0), 0);
      // The views are written anew where something was forgotten: the same ones with as many
      // documents hold the same.
      if (views === manifest.views && there === countOf(manifest.segments)) return;
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
      letGo();
      store.close();
    },
  };
}

/** Its place in a list in order, or -1. */
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
