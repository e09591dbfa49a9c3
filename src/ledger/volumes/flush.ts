import { openDB } from 'idb';

/**
 * Fireproof writes with relaxed durability: a power cut may take what it calls stored. A strict transaction
 * on the same database puts everything before it on the disk. `store` takes one small record for that.
 */
export async function flushDatabase(database: string, store: string): Promise<void> {
  const db = await openDB(database);
  try {
    const tx = db.transaction(store, 'readwrite', { durability: 'strict' });
    await Promise.all([tx.store.put({ id: 'roost-flush' }, 'roost-flush'), tx.done]);
  } finally {
    db.close();
  }
}
