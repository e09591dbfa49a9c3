/** The documents about one thing, some at a time: what was said in a thread, say. */
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { OwnerCalls } from '../../../shared/protocol/owner-rpc.ts';
import type { WithinPage } from '../../../shared/protocol/worker.ts';
import type { ViewsDatabase } from './database.ts';

export async function readWithin(
  db: ViewsDatabase,
  { about, after, limit }: Parameters<OwnerCalls['within']>[0],
): Promise<WithinPage> {
  const index = db.transaction('records').objectStore('records').index('about');
  const of = await index.count(about);
  const docs: Doc[] = [];
  if (limit === 0) return { docs, after: null, of };
  let cursor = await index.openCursor(about);
  if (cursor && after !== null && cursor.primaryKey < after) cursor = await cursor.continuePrimaryKey(about, after);
  if (cursor && cursor.primaryKey === after) cursor = await cursor.continue();
  while (cursor && docs.length < limit) {
    docs.push(cursor.value.doc);
    cursor = await cursor.continue();
  }
  return { docs, after: cursor ? (docs.at(-1)?._id ?? null) : null, of };
}
