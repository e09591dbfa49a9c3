/** Does a volume hold, document by document, what the views know to be in it? */
import { isDeepEqual } from '../equal.ts';
import type { LedgerDatabase, VolumeRecord } from '../views/database.ts';
import { DOCUMENT_STORES, storeOf } from '../views/write.ts';
import { decodeDocuments, type StoredDoc } from './codec.ts';

/** What is wrong, one sentence each; empty where nothing is. */
export async function checkVolume(db: LedgerDatabase, record: VolumeRecord, stored: readonly StoredDoc[]): Promise<string[]> {
  const { docs, damaged } = decodeDocuments(stored);
  const faults = damaged.map(({ id, reason }) => `${id} cannot be read: ${reason}`);
  if (docs.length < record.documents) faults.push(`${docs.length} of ${record.documents} documents are there`);
  const tx = db.transaction([...DOCUMENT_STORES]);
  const viewed = await Promise.all(docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
  docs.forEach((doc, i) => {
    if (!isDeepEqual(viewed[i]?.doc, doc)) faults.push(`${doc._id} is not what was written`);
  });
  return faults;
}
