/**
 * The ledger's long work, which runs one task at a time beside everything else: rebuilding the
 * views, and forgetting what is due.
 */
import { deleteDB } from 'idb';
import type { After } from '../../shared/domain/platform/timers.ts';
import { finalForgets } from '../../shared/domain/forgetting.ts';
import type { Doc, ForgetDoc, ForgetUndoDoc } from '../../shared/protocol/documents.ts';
import { isCovered, isKnown } from '../../shared/protocol/documents/kinds.ts';
import type { OwnerProgress, RebuildReport } from '../../shared/protocol/worker.ts';
import { journalTransaction, readMeta, writeMeta } from './journal/database.ts';
import { rowsAfter } from './journal/journal.ts';
import { rebuildViews, viewsNames, type RebuildDeps } from './rebuild.ts';
import { LEDGER } from './settings.ts';
import { readState, viewsVersion } from './views/database.ts';
import { applyBatches, type Views } from './views/views.ts';
import { discardVolumes, replaceVolumes, swap, type Volumes } from './volumes/volumes.ts';

/** What this module needs of the ledger. */
interface UpkeepHost extends Omit<RebuildDeps, 'forgotten' | 'onProgress'> {
  readonly after: After;
  /** Null: it is over. */
  readonly onProgress: (progress: OwnerProgress | null) => void;
  readonly onForgotten: (forgets: readonly ForgetDoc[]) => void;
}

export interface UpkeepDeps {
  readonly deps: UpkeepHost;
  readonly views: Views;
  readonly volumes: Volumes;
  /** All forget documents so far. Later ones come through `hearForgets`. */
  readonly forgets: { readonly asked: ForgetDoc[]; readonly undone: ForgetUndoDoc[] };
  /** Resolves when the size of the journal is known. */
  readonly counted: Promise<void>;
  /**
   * Puts documents into the journal again that the views hold and that are neither in a sound
   * volume nor in `sound`.
   */
  readonly refile: (sound: Iterable<string>) => Promise<number>;
  /** Runs between two appends. */
  readonly inTurn: <Result>(run: () => Promise<Result>) => Promise<Result>;
  readonly onRepaired: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export interface Upkeep {
  /** A second call waits for the first. */
  rebuild(): Promise<RebuildReport>;
  hearForgets(docs: readonly Doc[]): void;
  /** Was this document forgotten for good? */
  isForgotten(doc: Doc): boolean;
  close(): Promise<void>;
}

export function createUpkeep({
  deps,
  views,
  volumes,
  forgets,
  counted,
  refile,
  inTurn,
  onRepaired,
  onTrouble,
}: UpkeepDeps): Upkeep {
  const { journal } = deps;
  let final = finalForgets(forgets.asked, forgets.undone, deps.now());
  let rebuilding: Promise<RebuildReport> | null = null;
  let forgetting: Promise<void> | null = null;
  let closed = false;
  const isForgotten = (doc: Doc) => final.some((forget) => isCovered(doc, forget));

  /** Rebuilds the views while the old ones are read. Nothing else may use the volumes. */
  async function renewViews(): Promise<RebuildReport> {
    await views.upToDate();
    const { db, name, report } = await rebuildViews({ ...deps, forgotten: final });
    await inTurn(async () => {
      await views.upToDate();
      const { applied } = await readState(db);
      const late = (await rowsAfter(journal, applied)).map(({ seq, docs }) => ({
        seq,
        docs: docs.filter((doc) => !isForgotten(doc)),
      }));
      if (late.length > 0) await applyBatches(db, late);
      await writeMeta(journal, 'views', { version: viewsVersion(), name });
      await views.swap(db);
      volumes.added(report.repaired, 0, late.at(-1)?.seq ?? applied);
    });
    await dropOldViews(deps, name);
    return report;
  }

  /** Repeats until nothing is due: more may become due meanwhile. */
  async function forgetFinal() {
    for (;;) {
      const done = (await readMeta(journal, 'forgotten')) ?? [];
      const due = final.filter(({ _id }) => !done.includes(_id));
      if (due.length === 0) return;
      await forget(due);
      await writeMeta(journal, 'forgotten', [...done, ...due.map(({ _id }) => _id)]);
      deps.onForgotten(due);
    }
  }

  async function forget(due: readonly ForgetDoc[]) {
    // Damaged volumes are deleted whole. Their sound documents are stored elsewhere too after this.
    const damaged = (await journal.getAll('volumes'))
      .filter(({ state }) => state === 'damaged')
      .map(({ name }) => name);
    if (damaged.length > 0) {
      const tx = journalTransaction(journal, 'strict');
      await Promise.all([...damaged.map((name) => tx.objectStore('manifests').delete(name)), tx.done]);
      await refile(volumes.currentIds());
    }
    await views.upToDate();
    await counted;
    await volumes.drain();
    await volumes.exclusively(async () => {
      for (const name of damaged) await swap(journal, name, null, []);
      await discardVolumes(journal);
      await replaceVolumes({ journal, openVolume: deps.openVolume, now: deps.now }, due, (at, of) =>
        deps.onProgress({ task: 'forget', done: at, of }),
      );
      await renewViews();
    });
  }

  /** Deletes what has become final. */
  function forgetDue() {
    final = finalForgets(forgets.asked, forgets.undone, deps.now());
    if (final.length === 0 || forgetting || closed) return;
    forgetting = forgetFinal()
      .catch(onTrouble)
      .finally(() => {
        forgetting = null;
        deps.onProgress(null);
      });
  }

  const watch = () =>
    deps.after(LEDGER.forgetEvery, () => {
      if (closed) return;
      forgetDue();
      watch();
    });
  watch();
  forgetDue();

  return {
    isForgotten,
    rebuild() {
      rebuilding ??= volumes
        .exclusively(renewViews)
        .then((report) => {
          onRepaired();
          return report;
        })
        .finally(() => {
          rebuilding = null;
          deps.onProgress(null);
        });
      return rebuilding;
    },
    hearForgets(docs) {
      const known = docs.filter(isKnown);
      forgets.asked.push(...known.flatMap((doc) => (doc.type === 'forget' ? [doc] : [])));
      forgets.undone.push(...known.flatMap((doc) => (doc.type === 'forget-undo' ? [doc] : [])));
      forgetDue();
    },
    async close() {
      closed = true;
      await forgetting;
      await rebuilding?.catch(onTrouble);
    },
  };
}

/**
 * Deletes the databases of views that are no longer read. One that is still open somewhere is
 * deleted at the next start.
 */
export async function dropOldViews(
  { databaseNames }: Pick<UpkeepHost, 'databaseNames'>,
  current: string,
): Promise<void> {
  for (const name of viewsNames(await databaseNames())) if (name !== current) await deleteDB(name);
}
