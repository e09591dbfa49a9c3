/** Empties the browser's database, where it cannot be read any more and everything lies elsewhere too. */
import { deleteDB } from 'idb';
import type { Doc } from '../../protocol/documents.ts';
import { openJournalDatabase } from '../journal/database.ts';
import { readOutbox } from '../journal/outbox.ts';

const nothing = () => undefined;

/** What waits to be sealed lies nowhere else, if it can still be read. */
async function unsealed(): Promise<readonly Doc[]> {
  const { db } = await openJournalDatabase({ onBlocking: nothing, onTerminated: nothing });
  try {
    return (await readOutbox(db, Number.MAX_SAFE_INTEGER)).flatMap(({ docs }) => docs);
  } finally {
    db.close();
  }
}

/** Nobody may have any of them open. Answers what was only there and could be read. */
export async function emptyDatabases(): Promise<readonly Doc[]> {
  const saved = await unsealed().catch((): readonly Doc[] => []);
  for (const { name } of await indexedDB.databases()) {
    // One that cannot be deleted fails again where it is read, and is counted.
    if (name !== undefined) await deleteDB(name).catch(nothing);
  }
  return saved;
}
