/**
 * The views from nothing: everything that the volumes and the journal hold, written into them again.
 * Interrupted, it begins anew and comes out the same.
 */
import type { Doc } from '../../protocol/documents.ts';
import { StorageProblemError } from '../problem.ts';
import { LEDGER, volumeDatabase } from '../settings.ts';
import { VIEW_STORES, writeTransaction, type LedgerDatabase, type VolumeRecord } from '../views/database.ts';
import { unseen, writeViews } from '../views/write.ts';
import { decodeDocuments } from '../volumes/codec.ts';
import { putVolume } from '../volumes/volumes.ts';
import type { Volume } from '../volumes/fireproof-volume.ts';

export interface RebuildDeps {
  readonly db: LedgerDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** Names of the IndexedDB databases that exist. */
  readonly databaseNames: () => Promise<readonly string[]>;
  readonly onProgress: (done: { readonly volumes: number; readonly of: number }) => void;
}

export async function viewsAreStale(db: LedgerDatabase): Promise<boolean> {
  return (await db.get('meta', 'views')) !== 'ready';
}

/** The volumes on the list, and those that are on the disk all the same: the list may have been lost with the views. */
async function allVolumes({ db, databaseNames }: RebuildDeps): Promise<VolumeRecord[]> {
  const listed = new Map((await db.getAll('volumes')).map((record) => [record.name, record]));
  const prefix = volumeDatabase('');
  const names = (await databaseNames()).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  for (const name of names) {
    const number = Number(name.slice(1));
    if (!listed.has(name) && Number.isInteger(number)) listed.set(name, { name, number, documents: 0, sealed: false, damaged: false });
  }
  return [...listed.values()].sort((a, b) => a.number - b.number);
}

async function write(db: LedgerDatabase, docs: readonly Doc[]): Promise<number> {
  let written = 0;
  for (let at = 0; at < docs.length; at += LEDGER.rebuildBatch) {
    const tx = writeTransaction(db, 'relaxed');
    const fresh = await unseen(tx, docs.slice(at, at + LEDGER.rebuildBatch));
    await Promise.all([writeViews(tx, fresh), tx.done]);
    written += fresh.length;
  }
  return written;
}

/** Rejects with a StorageProblemError where a volume that should hold documents opens empty. */
export async function rebuildViews(deps: RebuildDeps): Promise<void> {
  const { db } = deps;
  const clear = writeTransaction(db, 'relaxed');
  await Promise.all([...VIEW_STORES.map((name) => clear.objectStore(name).clear()), clear.done]);

  const volumes = await allVolumes(deps);
  let documents = 0;
  for (const [i, record] of volumes.entries()) {
    deps.onProgress({ volumes: i, of: volumes.length });
    const volume = await deps.openVolume(record.name);
    const { docs, damaged } = decodeDocuments(await volume.read());
    await volume.close();
    if (docs.length === 0 && record.documents > 0)
      throw new StorageProblemError({
        kind: 'unexpectedly-empty',
        detail: `Volume ${record.name} should hold ${record.documents} documents and opened empty. Nothing is written. Reload the page to try again.`,
      });
    documents += await write(db, docs);
    await putVolume(db, { ...record, documents: docs.length, damaged: record.damaged || damaged.length > 0 });
  }
  documents += await write(db, (await db.getAll('journal')).map(({ doc }) => doc));

  const tx = writeTransaction(db, 'strict');
  const meta = tx.objectStore('meta');
  await Promise.all([meta.put(documents, 'documents'), meta.put('ready', 'views'), tx.done]);
}
