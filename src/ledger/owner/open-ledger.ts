/** Opens the ledger once it is ours: the database, the views (rebuilt where they must be), the ledger itself. */
import type { Doc } from '../../protocol/documents.ts';
import type { StorageProblem } from '../../protocol/worker.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { openLedgerDatabase } from '../views/database.ts';
import type { Volume } from '../volumes/fireproof-volume.ts';
import { rebuildViews, viewsAreStale } from './rebuild.ts';

export interface OpenLedgerDeps {
  readonly lockHeld: () => boolean;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly onDocuments: (docs: readonly Doc[]) => void;
  readonly onProblem: (problem: StorageProblem | null) => void;
  /** 32 bytes; null: a random key of this browser's own. */
  readonly keyMaterial: () => Promise<Uint8Array | null>;
}

const RELOAD = 'Another tab has a newer Roost. Reload this one; nothing that was stored is lost.';

export async function openLedger(deps: OpenLedgerDeps): Promise<Ledger> {
  const db = await openLedgerDatabase({
    onBlocking: () => {
      db.close();
      deps.onProblem({ kind: 'blocked', detail: RELOAD });
    },
    onTerminated: () => deps.onProblem({ kind: 'broken', detail: 'The browser closed this page’s storage. Reload the page.' }),
  });

  let keyed: Promise<void> | null = null;
  // Fireproof is most of the worker's code, and no reader needs it: it is run when a volume is first opened. (It is
  // in the worker's one file: fetched later, it might be asked of a relay that is gone.)
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
  const openVolume = async (name: string): Promise<Volume> => (await loadVolumes()).openVolume({ name, lockHeld: deps.lockHeld });

  if (await viewsAreStale(db)) {
    await rebuildViews({
      db,
      openVolume,
      databaseNames: async () => (await indexedDB.databases()).flatMap(({ name }) => (name === undefined ? [] : [name])),
      onProgress: ({ volumes, of }) =>
        deps.onProblem({ kind: 'blocked', detail: `The overview is being put together again: volume ${volumes + 1} of ${of}.` }),
    });
    deps.onProblem(null);
  }

  return createLedger({
    db,
    openVolume,
    after: deps.after,
    onDocuments: deps.onDocuments,
    onProblem: deps.onProblem,
    storage: navigator.storage,
  });
}
