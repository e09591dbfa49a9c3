/** What a page knows of records, for tests: what it has stored, what holds of it, and how it offers it. */
import type { Doc } from '../../src/protocol/documents.ts';
import { slotOf, wins } from '../../src/protocol/known.ts';
import type { OfferedRecord } from '../../src/protocol/records.ts';

/** Those that hold, as a page folds them: the newest of each record, and all that was said. */
export function holding(docs: readonly Doc[]): Doc[] {
  const held = new Map<string, Doc>();
  for (const doc of docs) {
    const key = slotOf(doc) ?? doc._id;
    const before = held.get(key);
    if (!before || wins(doc, before)) held.set(key, doc);
  }
  return [...held.values()];
}
export const offered = (doc: Doc): OfferedRecord => ({
  type: doc.type,
  id: String(doc['recordId']),
  at: doc.at,
  value: doc['value'],
});
