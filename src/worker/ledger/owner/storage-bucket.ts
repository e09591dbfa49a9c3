/**
 * Which of the browser's sets of databases is ours. Chromium (156) opens, lists and deletes no
 * database of an origin whose IndexedDB has lost its manifest, or whose CURRENT names none: each
 * call fails, at every start, for ever (seen). A storage bucket of the same origin has files of its
 * own, and works beside it. So where emptying does not help, the owner moves into a new bucket, and
 * what was lost comes back there from files and relay. That the bucket exists is what remembers the
 * move: it is asked for at every start, before anything is opened.
 *
 * idb and Fireproof know only the global `indexedDB`: it is replaced here, and nowhere else. Only
 * the owner opens databases.
 */
import { deleteDB, openDB } from 'idb';
import type { MaybeStorage } from '../../../shared/domain/platform/old-browsers.ts';
import { LEDGER } from '../settings.ts';

interface Bucket extends Pick<StorageManager, 'persisted' | 'estimate'> {
  readonly indexedDB: IDBFactory;
}
/** https://wicg.github.io/storage-buckets/: Chromium alone has it. */
interface Buckets {
  open(name: string, options: { readonly persisted: boolean }): Promise<Bucket>;
  keys(): Promise<readonly string[]>;
  delete(name: string): Promise<void>;
}
const isBuckets = (value: unknown): value is Buckets =>
  typeof value === 'object' && value !== null && 'open' in value && 'keys' in value && 'delete' in value;
const bucketsOf = (scope: object): Buckets | null =>
  'storageBuckets' in scope && isBuckets(scope.storageBuckets) ? scope.storageBuckets : null;

/** 0: none of ours, so the origin's own databases. */
const numberOf = (name: string) =>
  name.startsWith(LEDGER.bucket) && /^[1-9]\d*$/.test(name.slice(LEDGER.bucket.length))
    ? Number(name.slice(LEDGER.bucket.length))
    : 0;

async function enter(buckets: Buckets, number: number): Promise<Bucket> {
  const bucket = await buckets.open(`${LEDGER.bucket}${number}`, { persisted: true });
  Object.defineProperty(globalThis, 'indexedDB', { configurable: true, value: bucket.indexedDB });
  return bucket;
}

/**
 * What the page's person is told of a bucket. Files and key stay in the origin's own storage, and
 * count too.
 */
const factsOf = (bucket: Bucket, origin: MaybeStorage): MaybeStorage => ({
  // Asked for wherever it is opened: a worker has no other way, and tabs ask for the origin's own
  // storage.
  persisted: () => bucket.persisted(),
  async estimate() {
    const [inside, beside] = await Promise.all([bucket.estimate(), origin?.estimate?.() ?? null]);
    return { ...inside, usage: (inside.usage ?? 0) + (beside?.usage ?? 0) };
  },
});

export interface StorageBuckets {
  /** From here on `indexedDB` is the one that the owner used last. Before anything is opened. */
  reopen(): Promise<void>;
  /** Can databases be made and deleted where we are? */
  works(): Promise<boolean>;
  /**
   * From here on `indexedDB` is a new, empty one, now and at every later start. Answers false where
   * the browser has no such thing.
   */
  move(): Promise<boolean>;
  /** Of where we are: is it kept for good, and how much room is there? */
  storage(): MaybeStorage;
}

/** `scope`: the worker's navigator. */
export function createStorageBuckets(scope: { readonly storage?: MaybeStorage }): StorageBuckets {
  const buckets = bucketsOf(scope);
  let inUse: Bucket | null = null;
  const ours = async () => (await (buckets?.keys() ?? [])).filter((name) => numberOf(name) > 0);
  const latest = async () => Math.max(0, ...(await ours()).map(numberOf));
  return {
    async reopen() {
      const number = await latest().catch(() => 0);
      // A bucket that cannot be opened fails again where it is read, and is left for a new one.
      if (buckets && number > 0) inUse = await enter(buckets, number).catch(() => null);
    },
    async works() {
      try {
        (await openDB(LEDGER.probeDatabase, 1)).close();
        await deleteDB(LEDGER.probeDatabase);
        return true;
      } catch {
        return false;
      }
    },
    async move() {
      if (!buckets) return false;
      try {
        const left = await ours();
        inUse = await enter(buckets, (await latest()) + 1);
        // What cannot be read is of no use; if it cannot be deleted either, it only takes room.
        for (const name of left) await buckets.delete(name).catch(() => undefined);
        return true;
      } catch {
        return false;
      }
    },
    storage: () => (inUse ? factsOf(inUse, scope.storage) : scope.storage),
  };
}
