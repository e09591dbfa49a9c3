/**
 * The ledger, as the data worker opens it. Tabs import `../index.ts` instead.
 *
 * The worker takes the Web Lock of the ledger, opens the journal and the views, rebuilds the views
 * where they are out of date, and serves the tabs.
 *
 * Main functions: `takeOwnersLock`, `openLedger`, `servePorts` and `serveChannel` (the two ways to
 * tabs), `emptyDatabases` (where the browser's database cannot be read any more).
 *
 * Invariants:
 * - Only the holder of the lock writes.
 * - A document is acknowledged only when the journal has it on disk.
 * - The views can be deleted at any time. They are rebuilt from the journal and the volumes.
 *
 * It does not know the relay, other devices, or how a document is shown.
 */
import { deleteDB, openDB } from 'idb';
import { z } from 'zod';
import type { After } from '../../../shared/domain/platform/timers.ts';
import type { MaybeStorage } from '../../../shared/domain/platform/old-browsers.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { createDeferred } from '../../../shared/domain/platform/deferred.ts';
import type { FromDataWorker, WorkerNews, StorageProblem } from '../../../shared/protocol/worker.ts';
import type { RpcServer } from '../../../shared/rpc/server.ts';
import { sentence } from '../../../shared/domain/names.ts';
import { isUnreadable } from '../problem.ts';
import { LEDGER, WORKER_CONNECTION } from '../settings.ts';
import { type JournalDatabase, openJournalDatabase, readMeta, writeMeta } from '../journal/database.ts';
import { readOutbox, rowsAfter } from '../journal/journal.ts';
import { type FromTab, type Hello, inOneGo, membersOf, tabGone, type ToTab } from '../tab.ts';
import type { Ledger, LedgerDeps } from '../contract.ts';
import { createLedger } from '../ledger.ts';
import { dropOldViews, rebuildViews } from '../upkeep.ts';
import { isWhole, openViewsDatabase, readState, type ViewsDatabase, viewsVersion } from '../views/database.ts';
import { applyBatches } from '../views/views.ts';
import type { Volume } from '../volumes/fireproof-volume.ts';
export { createProblems, StorageProblemError, storageProblemOf } from '../problem.ts';

// Opens the ledger after the worker has the lock: first the journal, then the views (rebuilt where
// necessary), then the ledger itself.

// Restarts the worker where the stored data cannot be read. The next worker restores it.

interface Restart {
  /** Resolves with false where a restart cannot restore anything. */
  begin(): Promise<boolean>;
  /** Restarts if the error says that stored data is unreadable. */
  inspect(error: unknown): void;
  /** Hides a failure that the restart fixes: the promise stays pending until then. */
  orAnew<Opened>(opening: Promise<Opened>): Promise<Opened>;
}

interface RestartDeps {
  /** Leaves a note for the next worker. Resolves with whether the next worker will find it. */
  readonly note: () => Promise<boolean>;
  /** Writes what is not written yet, where possible. */
  readonly flush: () => Promise<void>;
  /** Notifies the tabs that this worker ends. */
  readonly tell: () => void;
  readonly after: After;
  readonly end: () => void;
  readonly onCrash: (error: unknown) => void;
}

export function createRestart({ note, flush, tell, after, end, onCrash }: RestartDeps): Restart {
  let ending: Promise<boolean> | null = null;
  function begin(): Promise<boolean> {
    ending ??= (async () => {
      if (!(await note())) {
        ending = null;
        return false;
      }
      await flush();
      tell();
      // Let the notices leave before the worker ends.
      after(0, end);
      return true;
    })();
    return ending;
  }
  return {
    begin,
    inspect(error) {
      if (isUnreadable(error)) begin().catch(onCrash);
    },
    async orAnew(opening) {
      try {
        return await opening;
      } catch (error) {
        if (isUnreadable(error) && (await begin())) await new Promise<never>(() => undefined);
        throw error;
      }
    },
  };
}

// Chooses the set of databases to use.
//
// Chromium (156) can no longer open, list or delete any database of an origin whose IndexedDB has
// lost its manifest, or whose CURRENT names none. Every call fails at every start, for ever (seen).
// A storage bucket of the same origin has files of its own and still works. So where emptying does
// not help, the worker moves into a new bucket and restores the data there from files and relay.
// The existence of the bucket records the move. The worker looks for it at every start, before it
// opens anything.
//
// idb and Fireproof use only the global `indexedDB`. It is replaced here, and nowhere else. Only
// the worker opens databases.

interface Bucket extends Pick<StorageManager, 'persisted' | 'estimate'> {
  readonly indexedDB: IDBFactory;
}
/** https://wicg.github.io/storage-buckets/: only Chromium has it. */
interface Buckets {
  open(name: string, options: { readonly persisted: boolean }): Promise<Bucket>;
  keys(): Promise<readonly string[]>;
  delete(name: string): Promise<void>;
}
const isBuckets = (value: unknown): value is Buckets =>
  typeof value === 'object' && value !== null && 'open' in value && 'keys' in value && 'delete' in value;
const bucketsOf = (scope: object): Buckets | null =>
  'storageBuckets' in scope && isBuckets(scope.storageBuckets) ? scope.storageBuckets : null;

/** The number of one of our buckets. 0: not ours, so the origin's own databases. */
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
 * Storage facts of a bucket, for the page. Files and key stay in the origin's own storage, and
 * count too.
 */
const factsOf = (bucket: Bucket, origin: MaybeStorage): MaybeStorage => ({
  // Persistence was requested when the bucket was opened. A worker has no other way, and tabs can
  // only ask for the origin's own storage.
  persisted: () => bucket.persisted(),
  async estimate() {
    const [inside, beside] = await Promise.all([bucket.estimate(), origin?.estimate?.() ?? null]);
    return { ...inside, usage: (inside.usage ?? 0) + (beside?.usage ?? 0) };
  },
});

interface StorageBuckets {
  /** Sets `indexedDB` to the one that the worker used last. Call it before anything is opened. */
  reopen(): Promise<void>;
  /** Can databases be created and deleted in the current place? */
  works(): Promise<boolean>;
  /**
   * Sets `indexedDB` to a new, empty one, now and at every later start. Resolves with false where
   * the browser has no buckets.
   */
  move(): Promise<boolean>;
  /** Persistence and quota of the current place. */
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
      // A bucket that cannot be opened fails again on reading. The worker then moves to a new one.
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
        // Unreadable data is useless. If it cannot be deleted either, it only takes space.
        for (const name of left) await buckets.delete(name).catch(() => undefined);
        return true;
      } catch {
        return false;
      }
    },
    storage: () => (inUse ? factsOf(inUse, scope.storage) : scope.storage),
  };
}

// Empties the browser's databases where they are unreadable and everything is stored elsewhere too.

const nothing = () => undefined;

/** Documents in the outbox are stored nowhere else. Returns them if they can still be read. */
async function unsealed(): Promise<readonly Doc[]> {
  const { db } = await openJournalDatabase({ onBlocking: nothing, onTerminated: nothing });
  try {
    return (await readOutbox(db, Number.MAX_SAFE_INTEGER)).flatMap(({ docs }) => docs);
  } finally {
    db.close();
  }
}

/**
 * Deletes every database. None may be open. Resolves with the documents that were stored only there
 * and could be read, and with whether databases can be created again.
 */
export async function emptyDatabases(
  buckets: Pick<StorageBuckets, 'works'>,
): Promise<{ readonly saved: readonly Doc[]; readonly works: boolean }> {
  const saved = await unsealed().catch((): readonly Doc[] => []);
  try {
    for (const { name } of await indexedDB.databases()) if (name !== undefined) await deleteDB(name);
  } catch {
    return { saved, works: false };
  }
  return { saved, works: await buckets.works() };
}

// The Web Lock of the ledger. Its holder is the one data worker, until it ends.

interface WorkerLock {
  /** Does this worker hold the lock? */
  held(): boolean;
  /** Resolves when this worker holds the lock. */
  acquired: Promise<void>;
  release(): void;
}

interface LockDeps {
  readonly locks: LockManager;
  readonly after: After;
  /** Another worker has held the lock for longer than a moment. */
  readonly onWait: () => void;
}

export function takeWorkerLock({ locks, after, onWait }: LockDeps): WorkerLock {
  let isHeld = false;
  const released = createDeferred();
  const acquired = createDeferred();
  const cancel = after(LEDGER.lockGrace, onWait);
  locks
    .request(LEDGER.lock, async () => {
      cancel();
      isHeld = true;
      acquired.resolve();
      await released.promise;
      isHeld = false;
    })
    .catch(acquired.reject);
  return { held: () => isHeld, acquired: acquired.promise, release: released.resolve };
}

// Connects tabs to this worker: through the ports of a SharedWorker, or over a channel from a
// dedicated worker.

/** Schemas of a tab's messages on a connection. */
const helloSchema: z.ZodType<Hello> = z.object({ from: z.string(), hello: z.literal(true) });
const fromTabSchema: z.ZodType<FromTab> = z.union([helloSchema, z.object({ from: z.string(), message: z.unknown() })]);

type OwnerServer = RpcServer<WorkerNews>;

/** Each `connect` event of a SharedWorker brings the port of one tab. */
export function servePorts(scope: EventTarget, server: OwnerServer, locks: LockManager, onConnect: () => void): void {
  scope.addEventListener('connect', (event) => {
    if (!(event instanceof MessageEvent)) return;
    const [port] = event.ports;
    if (!port) return;
    const connection = server.connect(inOneGo<FromDataWorker>((messages) => port.postMessage(messages)));
    port.addEventListener('message', ({ data }) => {
      // A list contains calls, and is the common case.
      const hello = Array.isArray(data) ? null : helloSchema.safeParse(data);
      if (!hello?.success) {
        for (const message of membersOf(data)) connection.take(message);
        return;
      }
      void tabGone(locks, hello.data.from).then(() => {
        connection.leave();
        port.close();
      });
    });
    port.start();
    onConnect();
  });
}

/**
 * Starts to answer on the channel. Call it only with the lock: two workers must not answer one
 * call.
 */
export function serveChannel(server: OwnerServer, locks: LockManager, onConnect: () => void): void {
  const channel = new BroadcastChannel(WORKER_CONNECTION.channel);
  const connections = new Map<string, ReturnType<OwnerServer['connect']>>();
  const post = (message: ToTab) => channel.postMessage(message);
  const join = (tab: string) => {
    const held = connections.get(tab);
    if (held) return held;
    const connection = server.connect(inOneGo<FromDataWorker>((message) => post({ to: tab, message })));
    connections.set(tab, connection);
    onConnect();
    void tabGone(locks, tab).then(() => {
      connection.leave();
      connections.delete(tab);
    });
    return connection;
  };
  channel.addEventListener('message', ({ data }) => {
    const parsed = fromTabSchema.safeParse(data);
    if (!parsed.success) return;
    const connection = join(parsed.data.from);
    if ('message' in parsed.data) for (const message of membersOf(parsed.data.message)) connection.take(message);
  });
  post({ owner: true });
}

interface OpenLedgerDeps
  extends
    Required<Pick<LedgerDeps, 'elapsed' | 'isReturning'>>,
    Pick<
      LedgerDeps,
      'after' | 'now' | 'onDocuments' | 'onProblem' | 'onProgress' | 'onForgotten' | 'shares' | 'onOutbox'
    > {
  readonly lockHeld: () => boolean;
  /** Storage facts of the place where the databases are. Asked once that is settled. */
  readonly storage: () => MaybeStorage;
  /** 32 bytes. Null: a random key of this browser's own. */
  readonly keyMaterial: () => Promise<Uint8Array | null>;
}

const RELOAD = sentence`Another tab has a newer Roost. Reload this one; nothing that was stored is lost.`;
const MENDED = sentence`Some of this browser’s data was missing. Roost rebuilt it from the rest. The last few seconds before may be lost.`;

const HANGS = sentence`The browser does not open its storage. Close other tabs of Roost. If that does not help, restart the browser. This page continues as soon as it can.`;

interface PatientDeps {
  readonly after: After;
  readonly onProblem: (problem: StorageProblem | null) => void;
}

/**
 * Resolves with what `opening` gives. Some browsers sometimes neither open a database nor fail.
 * After a moment that is reported as a problem.
 */
export async function patient<Result>({ after, onProblem }: PatientDeps, opening: Promise<Result>): Promise<Result> {
  let announced = false;
  const cancel = after(LEDGER.openGrace, () => {
    announced = true;
    onProblem({ kind: 'blocked', detail: HANGS });
  });
  try {
    return await opening;
  } finally {
    cancel();
    if (announced) onProblem(null);
  }
}

export async function openLedger(deps: OpenLedgerDeps): Promise<Ledger> {
  const patiently = <Result>(opening: Promise<Result>) => patient(deps, opening);

  const terminated = {
    onTerminated: () =>
      deps.onProblem({ kind: 'broken', detail: sentence`The browser closed this page’s storage. Reload the page.` }),
  };
  const onBlocking = (close: () => void) => () => {
    close();
    deps.onProblem({ kind: 'blocked', detail: RELOAD });
  };
  const { db: journal, missing } = await patiently(
    openJournalDatabase({ ...terminated, onBlocking: onBlocking(() => journal.close()) }),
  );
  const openViews = async (name: string): Promise<ViewsDatabase> => {
    const db: ViewsDatabase = await patiently(
      openViewsDatabase(name, { ...terminated, onBlocking: onBlocking(() => db.close()) }),
    );
    return db;
  };
  const databaseNames = async () =>
    (await patiently(indexedDB.databases())).flatMap(({ name }) => (name === undefined ? [] : [name]));

  let keyed: Promise<void> | null = null;
  // Fireproof is most of the worker's code, and no read needs it, so it runs when a volume is first
  // opened. It is part of the worker's one file: the relay may be gone when it is needed.
  async function loadVolumes() {
    const [volumes, keys] = await Promise.all([import('../volumes/fireproof-volume.ts'), import('../volumes/key.ts')]);
    keyed ??= deps.keyMaterial().then(keys.ensureKey);
    try {
      await keyed;
    } catch (error) {
      // The next volume to be opened tries again.
      keyed = null;
      throw error;
    }
    return volumes;
  }
  const openVolume = async (name: string): Promise<Volume> =>
    (await loadVolumes()).openVolume({ name, lockHeld: deps.lockHeld });

  const common = {
    ...terminated,
    onBlocking: () => deps.onProblem({ kind: 'blocked', detail: RELOAD }),
    journal,
    openVolume,
    databaseNames,
    now: deps.now,
    elapsed: deps.elapsed,
    onProgress: deps.onProgress,
  };
  let views = missing.length === 0 ? await currentViews(journal, openViews, databaseNames) : null;
  if (!views) {
    // The old views, of whatever version, are read as a further copy, so nothing that only they
    // hold is lost.
    const built = await rebuildViews({ ...common, forgotten: [] });
    await writeMeta(journal, 'views', { version: viewsVersion(), name: built.name });
    views = built.db;
    deps.onProgress(null);
  }
  await replay(journal, views, deps.onProgress);
  const ledger = await createLedger({
    ...common,
    views,
    after: deps.after,
    onDocuments: deps.onDocuments,
    onProblem: deps.onProblem,
    onForgotten: deps.onForgotten,
    shares: deps.shares,
    onOutbox: deps.onOutbox,
    isReturning: deps.isReturning,
    storage: deps.storage(),
  });
  if (missing.length > 0) deps.onProblem({ kind: 'damaged', detail: MENDED });
  // A database that is still open elsewhere is deleted at the next start.
  void dropOldViews({ databaseNames }, views.name).catch((error: unknown) =>
    deps.onProblem({ kind: 'broken', detail: String(error) }),
  );
  return ledger;
}

/** The views that the journal names, if they exist, are complete, and have the current version. */
async function currentViews(
  journal: JournalDatabase,
  open: (name: string) => Promise<ViewsDatabase>,
  names: () => Promise<readonly string[]>,
): Promise<ViewsDatabase | null> {
  const named = await readMeta(journal, 'views');
  if (named?.version !== viewsVersion() || !(await names()).includes(named.name)) return null;
  const db = await open(named.name);
  if (isWhole(db)) {
    const { ready, applied } = await readState(db);
    // A power cut may cost the views their last moments, and those rows may have left the journal
    // since.
    if (ready && applied >= ((await readMeta(journal, 'filedThrough')) ?? 0)) return db;
  }
  db.close();
  return null;
}

/** Applies journal rows that the views lack, because the page was closed or killed in between. */
async function replay(
  journal: JournalDatabase,
  views: ViewsDatabase,
  onProgress: OpenLedgerDeps['onProgress'],
): Promise<void> {
  let { applied } = await readState(views);
  const of = await journal.count('journal', IDBKeyRange.lowerBound(applied, true));
  let done = 0;
  for (;;) {
    const rows = await rowsAfter(journal, applied, LEDGER.journalStride);
    if (rows.length > 0) await applyBatches(views, rows);
    applied = rows.at(-1)?.seq ?? applied;
    done += rows.length;
    if (rows.length < LEDGER.journalStride) break;
    onProgress({ task: 'replay', done, of });
  }
  if (done >= LEDGER.journalStride) onProgress(null);
}
