/**
 * The log of what the person changed, the newest first: each with what stood there before, and with
 * what holds now.
 */
import { pendingForgets } from '../../../shared/domain/forgetting.ts';
import { isCovered, slotOf } from '../../../shared/protocol/documents/kinds.ts';
import type { ChangeLogView, LoggedChange } from '../../../shared/protocol/worker.ts';
import { LOGGED_STORES, type ViewsDatabase } from './database.ts';
import { newestFirst } from './order.ts';
import { splitForgets } from './read.ts';

/** Sorts after every age and id. */
const AFTER_ALL = '\uffff';

/** At most so many. Changes of who is being forgotten are left out. */
export async function readChangeLog(db: ViewsDatabase, limit: number, now: number): Promise<ChangeLogView> {
  const stores = [...LOGGED_STORES, 'forgets'] as const;
  const tx = db.transaction(stores);
  const [forgets, ...found] = await Promise.all([
    tx.objectStore('forgets').getAll(),
    ...LOGGED_STORES.map(async (name) => {
      const records = await tx
        .objectStore(name)
        .index('changed')
        .getAll(null, limit + 1);
      return records.map(({ doc }) => ({ name, doc, age: `${newestFirst(doc.at)} ${doc._id}` }));
    }),
  ]);
  const { asked, undone } = splitForgets(forgets.map(({ doc }) => doc));
  const forgetting = pendingForgets(asked, undone, now);
  const newest = found.flat().sort((a, b) => (a.age < b.age ? -1 : 1));
  const shown = newest.slice(0, limit).filter(({ doc }) => !forgetting.some((forget) => isCovered(doc, forget)));
  const changes = await Promise.all(
    shown.map(async ({ name, doc }): Promise<LoggedChange> => {
      const slot = slotOf(doc) ?? '';
      const past = tx.objectStore(name).index('past');
      const [before, holds] = await Promise.all([
        past.get(IDBKeyRange.bound([slot, newestFirst(doc.at), doc._id], [slot, AFTER_ALL], true)),
        tx.objectStore(name).index('slot').get(slot),
      ]);
      return { doc, before: before?.doc ?? null, holds: holds?.doc ?? doc };
    }),
  );
  return { changes, more: newest.length > limit };
}
