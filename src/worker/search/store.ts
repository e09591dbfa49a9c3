/** Stores the index in an IndexedDB database of its own. Everything in it can be rebuilt. */
import { deleteDB, openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { DamagedIndexError, type Part, type PartKey, type ReadParts, type SegmentInfo, unsealed } from './segment.ts';
import { SEARCH } from './settings.ts';

/** The segments of the index. Parts of other segments are garbage. */
export interface Manifest {
  readonly version: number;
  readonly segments: readonly SegmentInfo[];
  /** Id of the next segment. */
  readonly next: number;
  /** Name of the ledger's views that the index was last compared with. Null: never. */
  readonly views: string | null;
}
const EMPTY: Manifest = { version: SEARCH.version, segments: [], next: 1, views: null };

/** Storage of an index. Writes run one at a time, each completely or not at all. */
export interface IndexStore {
  manifest(): Promise<Manifest>;
  /** In order. Rejects with a DamagedIndexError for a missing or damaged part. */
  readonly read: ReadParts;
  /** Stores parts that no manifest names yet. */
  put(parts: readonly Part[]): Promise<void>;
  /** Makes this manifest valid and deletes the parts of segments that it does not name. */
  commit(manifest: Manifest, parts?: readonly Part[]): Promise<void>;
  close(): void;
}

interface SearchSchema extends DBSchema {
  meta: { key: string; value: unknown };
  parts: { key: [number, string, number]; value: Uint8Array };
}
const STORES = ['meta', 'parts'] as const;
const nameOf = (key: PartKey) => key.join(' ');

const isManifest = (value: unknown): value is Manifest =>
  typeof value === 'object' &&
  value !== null &&
  'version' in value &&
  value.version === SEARCH.version &&
  'segments' in value &&
  Array.isArray(value.segments);

/** Deletes the index. */
export const deleteIndex = (): Promise<void> => deleteDB(SEARCH.database);

/** Opens the index. Recreates it where it has another version or lacks a store. */
export async function openIndexStore(): Promise<IndexStore> {
  let db: IDBPDatabase<SearchSchema> = await open();
  const lastManifest = STORES.every((name) => db.objectStoreNames.contains(name))
    ? await db.get('meta', 'manifest')
    : null;
  if (lastManifest !== undefined && !isManifest(lastManifest)) {
    db.close();
    await deleteIndex();
    db = await open();
  }

  function open() {
    return openDB<SearchSchema>(SEARCH.database, 1, {
      upgrade(fresh) {
        for (const name of STORES) fresh.createObjectStore(name);
      },
      // Close for another connection that deletes or upgrades the database: the index can be
      // rebuilt.
      blocking: (_now, _next, event) => (event.target as IDBDatabase).close(),
    });
  }

  /**
   * Every write opens every store, so only one write runs at a time, as in the ledger's databases.
   */
  async function write(
    run: (tx: { put(part: Part): void; drop(range: IDBKeyRange): void; note(manifest: Manifest): void }) => void,
  ) {
    const tx = db.transaction([...STORES], 'readwrite', { durability: 'relaxed' });
    const failed = (error: unknown) => void error;
    run({
      // A failed request aborts the transaction and rejects its `done`.
      put: ({ key, bytes }) =>
        void tx
          .objectStore('parts')
          .put(bytes, [...key])
          .catch(failed),
      drop: (range) => void tx.objectStore('parts').delete(range).catch(failed),
      note: (manifest) => void tx.objectStore('meta').put(manifest, 'manifest').catch(failed),
    });
    await tx.done;
  }

  /**
   * Parts whose checksums matched, of each segment. They are never written again, and checking
   * takes longer than reading.
   */
  const checked = new Map<number, Set<string>>();
  function bytesOf(key: PartKey, part: unknown): Uint8Array {
    const [id] = key;
    const ofSegment = checked.get(id) ?? new Set();
    checked.set(id, ofSegment);
    const bytes = unsealed(part, !ofSegment.has(nameOf(key)));
    ofSegment.add(nameOf(key));
    return bytes;
  }

  return {
    async manifest() {
      const manifest = await db.get('meta', 'manifest');
      return isManifest(manifest) ? manifest : EMPTY;
    },
    async read(keys) {
      if (keys.length === 0) return [];
      const parts = db.transaction('parts').objectStore('parts');
      const found = await Promise.all(keys.map(async (key) => [key, await parts.get([...key])] as const));
      return found.map(([key, part]) => bytesOf(key, part));
    },
    put: (parts) => write((tx) => parts.forEach(tx.put)),
    async commit(manifest, parts = []) {
      const kept = new Set(manifest.segments.map(({ id }) => id));
      const there = await segmentsThere(db);
      for (const id of checked.keys()) if (!kept.has(id)) checked.delete(id);
      await write((tx) => {
        parts.forEach(tx.put);
        for (const id of there) if (!kept.has(id)) tx.drop(IDBKeyRange.bound([id], [id + 1], false, true));
        tx.note(manifest);
      });
    },
    close: () => db.close(),
  };
}

/** Segments that have parts. Reads one key for each. */
async function segmentsThere(db: IDBPDatabase<SearchSchema>): Promise<readonly number[]> {
  const ids: number[] = [];
  const parts = db.transaction('parts').objectStore('parts');
  for (let range: IDBKeyRange | null = null; ;) {
    const cursor: { readonly key: readonly [number, string, number] } | null = await parts.openKeyCursor(range);
    if (!cursor) return ids;
    ids.push(cursor.key[0]);
    range = IDBKeyRange.lowerBound([cursor.key[0] + 1]);
  }
}

/** Caches recently read parts in memory, up to `most` bytes. */
export function withCache(read: ReadParts, most: number): { readonly read: ReadParts; clear(): void; bytes(): number } {
  /** The most recently used comes last. */
  const cache = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    async read(keys) {
      const missing = keys.filter((key) => !cache.has(nameOf(key)));
      const fresh = new Map(missing.map((key) => [nameOf(key), null as Uint8Array | null]));
      (await read(missing)).forEach((part, i) => fresh.set(nameOf(missing[i] ?? [0, 'about', 0]), part));
      const parts = keys.map((key) => {
        const name = nameOf(key);
        const part = fresh.get(name) ?? cache.get(name);
        if (!part) throw new DamagedIndexError('A part of the index is missing.');
        if (!cache.delete(name)) bytes += part.length;
        cache.set(name, part);
        return part;
      });
      for (const [name, part] of cache) {
        if (bytes <= most) break;
        cache.delete(name);
        bytes -= part.length;
      }
      return parts;
    },
    clear() {
      cache.clear();
      bytes = 0;
    },
    bytes: () => bytes,
  };
}
