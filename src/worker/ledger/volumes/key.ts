/** The key that every volume is encrypted with, in Fireproof's key bag in this browser. */
import { getKeyBag } from '@fireproof/core-keybag';
import { ensureSuperThis } from '@fireproof/core-runtime';
import { openDB } from 'idb';
import { LEDGER } from '../settings.ts';

/**
 * Makes sure that the key exists before the first volume is opened: `material`, 32 bytes, where a
 * device brings its household's key, else a random one. A key that is there already stays.
 *
 * Fireproof must not be given material for a name that it has a key for: it would encrypt with the
 * new key from then on, keep the old one, and forget the new one with the page.
 */
export async function ensureKey(material: Uint8Array | null): Promise<void> {
  const bag = await getKeyBag(ensureSuperThis(), { url: `indexeddb://${LEDGER.keyBag}` });
  const held = await bag.getNamedKey(LEDGER.keyName, true);
  if (held.isOk()) return;
  const made = await bag.getNamedKey(LEDGER.keyName, false, material ?? crypto.getRandomValues(new Uint8Array(32)));
  if (made.isErr()) throw made.Err();
  await flushKeyBag();
}

/**
 * Fireproof writes its keys with relaxed durability, and no volume may be on the disk before the
 * key that opens it: a strict transaction on the same database puts everything before it on the
 * disk.
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
