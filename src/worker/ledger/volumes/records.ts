/** The list of volumes: which is written now, which comes next, and what a sealed one holds. */
import { journalTransaction, putVolume, type JournalDatabase, type VolumeRecord } from '../journal/database.ts';

const volumeName = (number: number) => `v${String(number).padStart(5, '0')}`;

/** The volume after all others, not yet on the list. */
export async function nextVolume(db: JournalDatabase): Promise<VolumeRecord> {
  const number = ((await db.getAll('volumes')).at(-1)?.number ?? 0) + 1;
  return { name: volumeName(number), number, documents: 0, state: 'writing', checkedAt: null, faults: [] };
}

/**
 * The volume that is written now; begins the first one, or the one after a sealed or damaged one.
 */
export async function currentRecord(db: JournalDatabase): Promise<VolumeRecord> {
  const last = (await db.getAll('volumes')).at(-1);
  if (last?.state === 'writing') return last;
  const fresh = await nextVolume(db);
  await putVolume(db, fresh);
  return fresh;
}

/**
 * Puts the record of a volume that is not written any more, and the list of what it holds, onto the
 * disk together.
 */
export async function putListed(db: JournalDatabase, record: VolumeRecord, ids: readonly string[]): Promise<void> {
  const tx = journalTransaction(db, 'strict');
  await Promise.all([
    tx.objectStore('volumes').put(record),
    tx.objectStore('manifests').put({ name: record.name, ids }),
    tx.done,
  ]);
}
