/** Which documents do the views hold that lie in no sound volume and not in the journal? */
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { JournalDatabase } from '../journal/database.ts';
import { journalDocuments } from '../journal/journal.ts';
import { LEDGER } from '../settings.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { DOCUMENT_STORES } from '../views/write.ts';

/** Sorts after every id. */
const AFTER_ALL = '\uffff';

/** `sound`: ids that the volumes in use hold, beside those on the sealed volumes' lists. */
export async function* unfiled(
  journal: JournalDatabase,
  views: ViewsDatabase,
  sound: Iterable<string>,
): AsyncGenerator<readonly Doc[]> {
  const filed = new Set<string>(sound);
  for (const { ids } of await journal.getAll('manifests')) for (const id of ids) filed.add(id);
  for await (const { docs } of journalDocuments(journal, LEDGER.journalStride))
    for (const { _id } of docs) filed.add(_id);
  for (const name of DOCUMENT_STORES) {
    let from = '';
    for (;;) {
      const records = await views.getAll(name, IDBKeyRange.bound(from, AFTER_ALL, true), LEDGER.rebuildBatch);
      const docs = records.flatMap(({ _id, doc }) => (filed.has(_id) ? [] : [doc]));
      if (docs.length > 0) yield docs;
      const last = records.at(-1);
      if (records.length < LEDGER.rebuildBatch || !last) break;
      from = last._id;
    }
  }
}
