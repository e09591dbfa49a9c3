/** The key that encrypts every volume, in Fireproof's key bag in this browser. */
import { getKeyBag } from '@fireproof/core-keybag';
import { ensureSuperThis } from '@fireproof/core-runtime';
import { openDB } from 'idb';
import { LEDGER } from '../settings.ts';

/**
 * Creates the key before the first volume is opened. `material` is 32 bytes of the household's key
 * where a device brings one. Null: a random key. An existing key stays.
 *
 * Fireproof must not be given material for a name that has a key. It would encrypt with the new key
 * from then on, store the old one, and forget the new one with the page.
 */
export async function ensureKey(material: Uint8Array | null): Promise<void> {
  const bag = await getKeyBag(ensureSuperThis(), { url: `indexeddb://${LEDGER.keyBag}` });
  const key = await bag.getNamedKey(LEDGER.keyName, true);
  if (key.isOk()) return;
  const made = await bag.getNamedKey(LEDGER.keyName, false, material ?? crypto.getRandomValues(new Uint8Array(32)));
  if (made.isErr()) throw made.Err();
  await flushKeyBag();
}

/**
 * Fireproof writes its keys with relaxed durability, and a volume must not be on disk before its
 * key. A strict transaction on the same database flushes everything before it to disk.
 */
async function flushKeyBag() {
  const db = await openDB(LEDGER.keyBag);
  try {
    const tx = db.transaction('bag', 'readwrite', { durability: 'strict' });
    await Promise.all([tx.store.put({ id: 'roost-flush' }, 'roost-flush'), tx.done]);
  } finally {
    db.close();
  }
}
