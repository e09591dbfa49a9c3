/**
 * Volumes without what is forgotten. A volume is never changed: what is to stay goes into a new
 * one, which is compacted and checked; then, in one transaction, the new one takes the old one's
 * place on the list, and the old one's database is deleted.
 */
import { deleteDB } from 'idb';
import type { Forget } from '../../../shared/domain/forgetting.ts';
import { isCovered } from '../../../shared/protocol/documents/kinds.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import {
  journalTransaction,
  readMeta,
  writeMeta,
  type JournalDatabase,
  type VolumeRecord,
} from '../journal/database.ts';
import { LEDGER, volumeDatabase } from '../settings.ts';
import { decodeDocuments, encodeDocument } from './codec.ts';
import { writeStored } from './current.ts';
import type { Volume } from './fireproof-volume.ts';
import { nextVolume } from './records.ts';

export interface ReplaceDeps {
  readonly journal: JournalDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * Deletes the databases of volumes that were replaced; what cannot be deleted now is tried again at
 * the next start.
 */
export async function discardVolumes(journal: JournalDatabase): Promise<void> {
  const names = (await readMeta(journal, 'discard')) ?? [];
  if (names.length === 0) return;
  for (const name of names) await deleteDB(volumeDatabase(name));
  await writeMeta(journal, 'discard', []);
}

async function writeNew({ journal, openVolume, now }: ReplaceDeps, docs: readonly Doc[]): Promise<VolumeRecord> {
  const record = await nextVolume(journal);
  // A try that was cut off may have left something under this name.
  await deleteDB(volumeDatabase(record.name));
  const volume = await openVolume(record.name);
  for (let at = 0; at < docs.length; at += LEDGER.groupDocuments)
    await writeStored(volume, docs.slice(at, at + LEDGER.groupDocuments).flatMap(encodeDocument));
  await volume.compact();
  await volume.close();
  const again = await openVolume(record.name);
  const { docs: found, damaged } = decodeDocuments(await again.read());
  await again.close();
  if (found.length !== docs.length || damaged.length > 0)
    throw new Error(`Volume ${record.name} holds ${found.length} documents where ${docs.length} were written.`);
  return { ...record, documents: docs.length, state: 'sealed', checkedAt: now() };
}

/**
 * Makes sure that no volume holds what the forgets cover. Nobody else may use the volumes
 * meanwhile, and none may be damaged.
 */
export async function replaceVolumes(
  deps: ReplaceDeps,
  forgets: readonly Forget[],
  onProgress: (done: number, of: number) => void,
): Promise<void> {
  const { journal } = deps;
  const records = await journal.getAll('volumes');
  for (const [i, record] of records.entries()) {
    onProgress(i, records.length);
    const volume = await deps.openVolume(record.name);
    const { docs } = decodeDocuments(await volume.read());
    await volume.close();
    const kept = docs.filter((doc) => !forgets.some((forget) => isCovered(doc, forget)));
    if (kept.length === docs.length) continue;
    const fresh = kept.length === 0 ? null : await writeNew(deps, kept);
    await swap(journal, record.name, fresh, kept);
    await discardVolumes(journal);
  }
  onProgress(records.length, records.length);
}

/** The old volume leaves the list, and the new one, if any, joins it. */
export async function swap(
  journal: JournalDatabase,
  old: string,
  fresh: VolumeRecord | null,
  kept: readonly Doc[],
): Promise<void> {
  const discard = (await readMeta(journal, 'discard')) ?? [];
  const tx = journalTransaction(journal, 'strict');
  const writes: Promise<unknown>[] = [
    tx.objectStore('volumes').delete(old),
    tx.objectStore('manifests').delete(old),
    tx.objectStore('meta').put([...discard, old], 'discard'),
  ];
  if (fresh)
    writes.push(
      tx.objectStore('volumes').put(fresh),
      tx.objectStore('manifests').put({ name: fresh.name, ids: kept.map(({ _id }) => _id) }),
    );
  await Promise.all([...writes, tx.done]);
}
