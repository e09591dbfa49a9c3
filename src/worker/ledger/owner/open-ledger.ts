/**
 * Opens the ledger once it is ours: the journal, the views (written anew where they must be), the
 * ledger itself.
 */
import type { MaybeStorage } from '../../../shared/domain/platform/old-browsers.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import type { StorageProblem } from '../../../shared/protocol/worker.ts';
import { openJournalDatabase, readMeta, writeMeta, type JournalDatabase } from '../journal/database.ts';
import { rowsAfter } from '../journal/journal.ts';
import type { Ledger, LedgerDeps } from '../contract.ts';
import { createLedger } from '../ledger.ts';
import { rebuildViews } from '../rebuild.ts';
import { LEDGER } from '../settings.ts';
import { isWhole, openViewsDatabase, readState, viewsVersion, type ViewsDatabase } from '../views/database.ts';
import { dropOldViews } from '../upkeep.ts';
import { applyBatches } from '../views/views.ts';
import type { Volume } from '../volumes/fireproof-volume.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export interface OpenLedgerDeps
  extends
    Required<Pick<LedgerDeps, 'elapsed' | 'isReturning'>>,
    Pick<
      LedgerDeps,
      'after' | 'now' | 'onDocuments' | 'onProblem' | 'onProgress' | 'onForgotten' | 'shares' | 'onOutbox'
    > {
  readonly lockHeld: () => boolean;
  /** Of where the databases lie; asked once that is settled. */
  readonly storage: () => MaybeStorage;
  /** 32 bytes; null: a random key of this browser's own. */
  readonly keyMaterial: () => Promise<Uint8Array | null>;
}

const RELOAD = sentence`Another tab has a newer Roost. Reload this one; nothing that was stored is lost.`;
const MENDED = sentence`A part of what this browser stores was missing, and was made anew from the rest. What was written in the very last moment before may be missing.`;

const HANGS = sentence`The browser does not open its storage. Close other tabs of Roost; if that does not help, close the browser and start it again. This page goes on by itself as soon as it can.`;

interface PatientDeps {
  readonly after: After;
  readonly onProblem: (problem: StorageProblem | null) => void;
}

/**
 * What `opening` gives. Some browsers, at some times, neither open a database nor say that they
 * cannot: that is told after a moment.
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
  // Fireproof is most of the worker's code, and no reader needs it: it is run when a volume is
  // first opened. (It is in the worker's one file: fetched later, it might be asked of a relay that
  // is gone.)
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
    // The old views, of whatever shape, are read as a further copy: nothing that only they know is
    // lost.
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
  // One that is still open elsewhere is deleted at the next start.
  void dropOldViews({ databaseNames }, views.name).catch((error: unknown) =>
    deps.onProblem({ kind: 'broken', detail: String(error) }),
  );
  return ledger;
}

/** The views that the journal names, where they are there, whole, and of this version. */
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
    // A power cut may cost the views their last moments, and their rows may have left the journal
    // since.
    if (ready && applied >= ((await readMeta(journal, 'filedThrough')) ?? 0)) return db;
  }
  db.close();
  return null;
}

/** What the journal has and the views have not: the page was closed, or killed, in between. */
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
