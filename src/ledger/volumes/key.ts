/** The key that every volume is encrypted with, in Fireproof's key bag in this browser. */
import { getKeyBag } from '@fireproof/core-keybag';
import { ensureSuperThis } from '@fireproof/core-runtime';
import { LEDGER } from '../settings.ts';

/**
 * Makes sure that the key exists before the first volume is opened: `material`, 32 bytes, where a device
 * brings its household's key, else a random one. A key that is there already stays.
 */
export async function ensureKey(material: Uint8Array | null): Promise<void> {
  const bag = await getKeyBag(ensureSuperThis(), { url: `indexeddb://${LEDGER.keyBag}` });
  const result = await bag.getNamedKey(LEDGER.keyName, false, material ?? crypto.getRandomValues(new Uint8Array(32)));
  if (result.isErr()) throw result.Err();
}
