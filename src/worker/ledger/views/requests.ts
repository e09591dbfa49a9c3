/**
 * Many requests in one transaction without a promise for each: at thousands of documents a second
 * the promises cost as much as the requests. What fails aborts the transaction, and is told by its
 * `done`.
 */
import { unwrap, type IDBPTransaction } from 'idb';
import type { VIEW_STORES, ViewsSchema, ViewsTransaction } from './database.ts';

type StoreName = (typeof VIEW_STORES)[number];

/** Puts records, in order. They are there for whatever the transaction asks next. */
export function putAll<Name extends StoreName>(
  tx: ViewsTransaction,
  name: Name,
  records: Iterable<ViewsSchema[Name]['value']>,
): void {
  const store = unwrap(tx).objectStore(name);
  for (const record of records) store.put(record);
}

/** For each id, whether its store holds it. */
export function holds(
  tx: ViewsTransaction | IDBPTransaction<ViewsSchema, StoreName[]>,
  keys: readonly { readonly store: StoreName; readonly id: string }[],
): Promise<boolean[]> {
  if (keys.length === 0) return Promise.resolve([]);
  const raw: IDBTransaction = unwrap(tx);
  return new Promise((resolve, reject) => {
    const held: boolean[] = [];
    let open = keys.length;
    keys.forEach(({ store, id }, i) => {
      const request = raw.objectStore(store).getKey(id);
      request.onsuccess = () => {
        held[i] = request.result !== undefined;
        open -= 1;
        if (open === 0) resolve(held);
      };
      request.onerror = () => reject(request.error ?? new Error('A view could not be asked.'));
    });
  });
}
