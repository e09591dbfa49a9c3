/**
 * Empties the browser's database, where it cannot be read any more and everything lies elsewhere
 * too.
 */
import { deleteDB } from 'idb';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { openJournalDatabase } from '../journal/database.ts';
import { readOutbox } from '../journal/outbox.ts';
import type { StorageBuckets } from './storage-bucket.ts';

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

/**
 * Nobody may have any of them open. Answers what was only there and could be read, and whether
 * databases can be made there again.
 */
export async function emptyDatabases(
  buckets: Pick<StorageBuckets, 'works'>,
): Promise<{ readonly saved: readonly Doc[]; readonly works: boolean }> {
  const saved = await unsealed().catch((): readonly Doc[] => []);
  try {
    for (const { name } of await indexedDB.databases()) if (name !== undefined) await deleteDB(name);
  } catch {
    return { saved, works: false };
  }
  return { saved, works: await buckets.works() };
}
