/** Does a volume hold, document by document, what the views know to be in it? */
import { isDeepEqual } from '../equal.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { storeOf } from '../../protocol/known.ts';
import { DOCUMENT_STORES } from '../views/write.ts';
import { decodeDocuments, type StoredDoc } from './codec.ts';

export interface Check {
  /** Ids of the documents that are there and right. */
  readonly ids: readonly string[];
  /** What is wrong, one sentence each; empty where nothing is. */
  readonly faults: readonly string[];
}

/** `expected`: ids of the documents that it should hold. */
export async function checkVolume(
  views: ViewsDatabase,
  expected: readonly string[],
  stored: readonly StoredDoc[],
): Promise<Check> {
  const { docs, damaged } = decodeDocuments(stored);
  const faults = damaged.map(({ id, reason }) => `${id} cannot be read: ${reason}`);
  const tx = views.transaction([...DOCUMENT_STORES]);
  const viewed = await Promise.all(docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
  const ids: string[] = [];
  docs.forEach((doc, i) => {
    if (isDeepEqual(viewed[i]?.doc, doc)) ids.push(doc._id);
    else faults.push(`${doc._id} is not what was written`);
  });
  const there = new Set(ids);
  const lacking = expected.filter((id) => !there.has(id));
  if (lacking.length > 0) faults.push(`${lacking.length} of ${expected.length} documents are missing`);
  return { ids, faults };
}
