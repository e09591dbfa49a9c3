/**
 * A sealed entry: version u8 | epoch u16 | nonce 24 | ciphertext | tag 16, all of it bound to its
 * place. Associated data: the label, version u8, epoch u16, household 16, writer 16, counter u64.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { HouseholdKeys, Opened, KeyOfEntry, RandomBytes } from '../contract.ts';
import { decrypt, encrypt } from './aead.ts';
import { idBytes, uint, uint16At } from './bytes.ts';
import { entryKey } from './epoch-keys.ts';
import { householdBytes, keyOf, newest } from './keyring.ts';
import { pack, unpack } from './plaintext.ts';
import { CRYPTO, LABEL } from './settings.ts';

const HEADER = 3;

/** null: there is no such place. */
function entryAad(keys: HouseholdKeys, header: Uint8Array, key: KeyOfEntry): Uint8Array | null {
  const writer = idBytes(key.writer);
  if (!writer || !Number.isSafeInteger(key.counter) || key.counter < 1) return null;
  return concatBytes(utf8ToBytes(LABEL.entry), header, householdBytes(keys), writer, uint(key.counter, 8));
}

/**
 * Seals with the newest key. Throws a RangeError where the place is none, or the entry would be too
 * large to be sent.
 */
export function sealEntry(
  options: KeyOfEntry & { readonly keys: HouseholdKeys; readonly payload: Uint8Array; readonly random: RandomBytes },
): Uint8Array {
  const epochKey = newest(options.keys);
  const header = concatBytes(uint(CRYPTO.version, 1), uint(epochKey.epoch, 2));
  const aad = entryAad(options.keys, header, options);
  if (!aad) throw new RangeError(`There is no place ${options.counter} of a writer “${options.writer}”.`);
  return concatBytes(
    header,
    encrypt(entryKey(epochKey), aad, pack(options.payload, CRYPTO.mostPlaintext.entry), options.random),
  );
}

/**
 * Which key sealed it; null where it is too short, or of a version that this Roost does not know.
 */
export function epochOf(sealed: Uint8Array): number | null {
  return sealed.length >= HEADER && sealed[0] === CRYPTO.version ? uint16At(sealed, 1) : null;
}

export function openEntry(options: KeyOfEntry & { readonly keys: HouseholdKeys; readonly sealed: Uint8Array }): Opened {
  const { keys, sealed } = options;
  if ((sealed[0] ?? 0) > CRYPTO.version) return { ok: false, reason: 'newer-version' };
  const epoch = epochOf(sealed);
  const aad = epoch && entryAad(keys, sealed.subarray(0, HEADER), options);
  if (!epoch || !aad) return { ok: false, reason: 'forged' };
  const epochKey = keyOf(keys, epoch);
  if (!epochKey) return { ok: false, reason: 'unknown-epoch' };
  const plaintext = decrypt(entryKey(epochKey), aad, sealed.subarray(HEADER));
  const payload = plaintext && unpack(plaintext);
  if (payload === 'newer') return { ok: false, reason: 'newer-version' };
  return payload ? { ok: true, payload } : { ok: false, reason: 'forged' };
}

/** Names the very bytes of a sealed entry: SHA-256, the first 16 bytes as hex. */
export const digestOf = (sealed: Uint8Array): string => bytesToHex(sha256(sealed).subarray(0, 16));
