/**
 * The ledger's long work, which runs one task at a time beside everything else: rebuilding the
 * views, and forgetting what is due.
 */
import { deleteDB, openDB } from 'idb';
import { sentence } from '../../shared/domain/names.ts';
import { errorMessage } from '../../shared/domain/platform/error-message.ts';
import { finalForgets, type Forget, pendingForgets } from '../../shared/domain/forgetting.ts';
import { isCovered, isKnown } from '../../shared/protocol/documents/kinds.ts';
import { type Doc, type ForgetDoc, type ForgetUndoDoc, parseDocument } from '../../shared/protocol/documents.ts';
import type { WorkerProgress, RebuildReport } from '../../shared/protocol/worker.ts';
import type { After } from '../../shared/domain/platform/timers.ts';
import {
  type JournalDatabase,
  journalTransaction,
  type OpenOptions,
  putVolume,
  readMeta,
  type VolumeRecord,
  writeMeta,
} from './journal/database.ts';
import { rowsAfter, writeRow } from './journal/journal.ts';
import { LEDGER, volumeDatabase } from './settings.ts';
import {
  NO_VIEWS,
  openViewsDatabase,
  readState,
  type ViewsDatabase,
  viewsTransaction,
  viewsVersion,
} from './views/database.ts';
import { applyBatches, type Views } from './views/views.ts';
import { DOCUMENT_STORES, unseen } from './views/write.ts';
import { decodeDocuments } from './volumes/codec.ts';
import { missing, putListed, unreadable } from './volumes/current.ts';
import type { Volume } from './volumes/fireproof-volume.ts';
import { discardVolumes, replaceVolumes, swap, type Volumes } from './volumes/volumes.ts';

// Rebuilds the views: writes everything from the volumes and the journal into a new database beside
// the old one. Documents that only the old views hold (because a volume cannot be read, for
// example) are taken from there and put into the journal again. The old views are deleted when the
// new ones are in use. An interrupted rebuild starts again.

interface RebuildDeps extends OpenOptions {
  readonly journal: JournalDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** Names of the IndexedDB databases that exist. */
  readonly databaseNames: () => Promise<readonly string[]>;
  /** ms since the epoch */
  readonly now: () => number;
  /** What was forgotten for good. It does not come back. */
  readonly forgotten: readonly Forget[];
  readonly onProgress: (progress: WorkerProgress) => void;
}

interface Rebuilt {
  readonly db: ViewsDatabase;
  readonly name: string;
  readonly report: RebuildReport;
}

/** Names of all databases of views, whatever their version. */
const viewsNames = (names: readonly string[]) => names.filter((name) => name.startsWith(LEDGER.viewsDatabase));

/** `roost-views-<version>-<n>`, with a number that no database has. */
function freshName(names: readonly string[]): string {
  const numbers = viewsNames(names).map((name) => Number(name.slice(name.lastIndexOf('-') + 1)));
  return `${LEDGER.viewsDatabase}${viewsVersion()}-${Math.max(0, ...numbers.filter(Number.isInteger)) + 1}`;
}

/**
 * The volumes on the list, and those that exist on disk without being listed: the list may have
 * been lost.
 */
async function allVolumes(journal: JournalDatabase, names: readonly string[]): Promise<VolumeRecord[]> {
  const listed = new Map((await journal.getAll('volumes')).map((record) => [record.name, record]));
  const discarded = new Set(await readMeta(journal, 'discard'));
  const prefix = volumeDatabase('');
  for (const name of names.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))) {
    const number = Number(name.slice(1));
    if (listed.has(name) || discarded.has(name) || !Number.isInteger(number)) continue;
    // Sealed: nothing more is written into it.
    listed.set(name, { name, number, documents: 0, state: 'sealed', checkedAt: null, faults: [] });
  }
  return [...listed.values()].sort((a, b) => a.number - b.number);
}

async function readVolume(
  openVolume: RebuildDeps['openVolume'],
  name: string,
): Promise<{ docs: readonly Doc[]; faults: string[] }> {
  try {
    const volume = await openVolume(name);
    try {
      const { docs, damaged } = decodeDocuments(await volume.read());
      return { docs, faults: damaged.map(({ id, reason }) => unreadable(id, reason)) };
    } finally {
      await volume.close();
    }
  } catch (error) {
    return { docs: [], faults: [unreadable('it', errorMessage(error))] };
  }
}

/** Documents in a database of views of any version: every record that has one. */
async function* documentsOfViews(name: string): AsyncGenerator<readonly Doc[]> {
  const db = await openDB(name);
  try {
    for (const store of db.objectStoreNames) {
      let from: IDBValidKey | null = null;
      for (;;) {
        const range: IDBKeyRange | null = from === null ? null : IDBKeyRange.lowerBound(from, true);
        const [keys, records]: [IDBValidKey[], unknown[]] = await Promise.all([
          db.getAllKeys(store, range, LEDGER.rebuildBatch),
          db.getAll(store, range, LEDGER.rebuildBatch),
        ]);
        yield records.flatMap((record) => {
          if (typeof record !== 'object' || record === null || !('doc' in record)) return [];
          try {
            return [parseDocument(record.doc)];
          } catch {
            // Views may hold anything. The volumes are the source of truth.
            return [];
          }
        });
        from = keys.at(-1) ?? null;
        if (keys.length < LEDGER.rebuildBatch || from === null) break;
      }
    }
  } finally {
    db.close();
  }
}

/**
 * Writes new views. Nothing may write into volumes meanwhile. The journal may grow. Rejects where
 * nothing can be written.
 */
export async function rebuildViews(deps: RebuildDeps): Promise<Rebuilt> {
  const { journal, forgotten } = deps;
  const names = await deps.databaseNames();
  const name = freshName(names);
  const db = await openViewsDatabase(name, deps);
  const kept = (docs: readonly Doc[]) =>
    forgotten.length === 0 ? docs : docs.filter((doc) => !forgotten.some((forget) => isCovered(doc, forget)));
  const apply = async (docs: readonly Doc[], seq: number) => {
    let fresh = 0;
    for (let at = 0; at < docs.length; at += LEDGER.rebuildBatch)
      fresh += (await applyBatches(db, [{ seq, docs: docs.slice(at, at + LEDGER.rebuildBatch) }])).fresh;
    return fresh;
  };

  const volumes = await allVolumes(journal, names);
  const damaged: { name: string; expected: number; found: number; ids: readonly string[] | null }[] = [];
  for (const [i, record] of volumes.entries()) {
    deps.onProgress({ task: 'rebuild', done: i, of: volumes.length });
    const { docs, faults } = await readVolume(deps.openVolume, record.name);
    const manifest = await journal.get('manifests', record.name);
    const expected = manifest?.ids.length ?? record.documents;
    if (docs.length < expected) faults.push(missing(expected - docs.length, expected));
    await apply(kept(docs), 0);
    const state = faults.length > 0 ? 'damaged' : record.state;
    if (faults.length > 0)
      damaged.push({ name: record.name, expected, found: docs.length, ids: manifest?.ids ?? null });
    const checked: VolumeRecord = {
      ...record,
      documents: Math.max(record.documents, docs.length),
      state,
      checkedAt: deps.now(),
      // A volume that was damaged before stays damaged, with the faults found then.
      faults: (faults.length > 0 ? faults : record.faults).slice(0, LEDGER.faultsKept),
    };
    // The volume that is written has no list of its contents, because the next commit would outdate
    // it. The readable documents of a damaged volume still count as stored in it.
    if (state === 'writing') await putVolume(journal, checked);
    else
      await putListed(
        journal,
        checked,
        docs.map(({ _id }) => _id),
      );
  }
  deps.onProgress({ task: 'rebuild', done: volumes.length, of: volumes.length });

  // Rows up to this one are in the volumes and have left the journal.
  let applied = (await readMeta(journal, 'filedThrough')) ?? 0;
  const catchUp = async () => {
    for (;;) {
      const rows = await rowsAfter(journal, applied, LEDGER.journalStride);
      for (const { seq, docs } of rows) {
        await apply(kept(docs), seq);
        applied = seq;
      }
      if (rows.length < LEDGER.journalStride) return;
    }
  };
  await catchUp();

  // Documents that only older views hold go into the journal first, so they are durable before they
  // are in the views.
  const missingOf = async (docs: readonly Doc[]) => {
    const tx = viewsTransaction(db);
    const [missing] = await Promise.all([unseen(tx, kept(docs)), tx.done]);
    return missing;
  };
  let repaired = 0;
  for (const old of viewsNames(names)) {
    for await (const docs of documentsOfViews(old)) {
      if ((await missingOf(docs)).length === 0) continue;
      // Some may have been written just now.
      await catchUp();
      const missing = await missingOf(docs);
      if (missing.length > 0) repaired += await apply(missing, await writeRow(journal, missing));
    }
  }

  const tx = viewsTransaction(db);
  const state = (await tx.objectStore('state').get('state')) ?? NO_VIEWS;
  await Promise.all([tx.objectStore('state').put({ ...state, applied, ready: true }, 'state'), tx.done]);
  const faults = damaged.length === 0 ? [] : await lostWith(db, damaged, repaired);
  return { db, name, report: { documents: state.documents, volumes: volumes.length, repaired, faults } };
}

/**
 * Describes what damaged volumes held and no other place holds. Where their list is lost too,
 * describes what may be missing.
 */
async function lostWith(
  db: ViewsDatabase,
  damaged: readonly {
    readonly name: string;
    readonly expected: number;
    readonly found: number;
    readonly ids: readonly string[] | null;
  }[],
  repaired: number,
): Promise<string[]> {
  const tx = db.transaction([...DOCUMENT_STORES]);
  const there = new Set((await Promise.all(DOCUMENT_STORES.map((store) => tx.objectStore(store).getAllKeys()))).flat());
  return damaged.flatMap(({ name, expected, found, ids }) => {
    const lost = ids === null ? Math.max(0, expected - found - repaired) : ids.filter((id) => !there.has(id)).length;
    return lost === 0
      ? []
      : [
          sentence`${lost} of ${expected} documents of volume ${name} could not be found on this device. Import a copy, if there is one.`,
        ];
  });
}

/** What this module needs of the ledger. */
interface UpkeepHost extends Omit<RebuildDeps, 'forgotten' | 'onProgress'> {
  readonly after: After;
  /** Null: it is over. */
  readonly onProgress: (progress: WorkerProgress | null) => void;
  readonly onForgotten: (forgets: readonly ForgetDoc[]) => void;
}

interface UpkeepDeps {
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

interface Upkeep {
  /** A second call waits for the first. */
  rebuild(): Promise<RebuildReport>;
  hearForgets(docs: readonly Doc[]): void;
  /** Was this document forgotten for good? */
  isForgotten(doc: Doc): boolean;
  /** Requests that are final. */
  forgets(): readonly ForgetDoc[];
  /** How many documents in volumes have a text. */
  countWith(has: (text: string) => boolean): Promise<number>;
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

  /** Looks again when the next request becomes final. A timer of many days would be inexact. */
  let stopWatching: () => void = () => undefined;
  function watch() {
    stopWatching();
    const now = deps.now();
    const next = pendingForgets(forgets.asked, forgets.undone, now).reduce(
      (soonest, { finalAt }) => Math.min(soonest, finalAt - now),
      LEDGER.forgetEvery,
    );
    stopWatching = deps.after(next, () => {
      if (closed) return;
      forgetDue();
      watch();
    });
  }
  watch();
  forgetDue();

  return {
    isForgotten,
    forgets: () => final,
    countWith: (has) =>
      volumes.exclusively(async () => {
        let count = 0;
        for (const { name } of await allVolumes(journal, await deps.databaseNames())) {
          const { docs } = await readVolume(deps.openVolume, name);
          count += docs.filter((doc) => has(JSON.stringify(doc))).length;
        }
        return count;
      }),
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
      const knownDocs = docs.filter(isKnown);
      forgets.asked.push(...knownDocs.flatMap((doc) => (doc.type === 'forget' ? [doc] : [])));
      forgets.undone.push(...knownDocs.flatMap((doc) => (doc.type === 'forget-undo' ? [doc] : [])));
      forgetDue();
      watch();
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
