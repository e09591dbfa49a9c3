/**
 * Sealed to one key, by whoever knows it, without a name of the sender: version u8 | ephemeral key
 * 32 | nonce 24 | ciphertext | tag 16. Associated data: the label, version u8, ephemeral key,
 * receiver's key.
 */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RandomBytes } from '../contract.ts';
import { decrypt, encrypt } from './aead.ts';
import { agreedKey, publicKeyOf } from './agreement.ts';
import { base64url, draw, exactly, fromBase64url, uint } from './bytes.ts';
import { pack, unpack } from './plaintext.ts';
import { CRYPTO, LABEL } from './settings.ts';

const HEADER = 1 + CRYPTO.keyBytes;
const aadOf = (header: Uint8Array, receiver: Uint8Array) => concatBytes(utf8ToBytes(LABEL.box), header, receiver);

/** `boxKey`: 32 bytes as base64url. Throws where it is no sound key. */
export function sealBox(boxKey: string, plaintext: Uint8Array, random: RandomBytes): string {
  const receiver = exactly(boxKey, CRYPTO.keyBytes);
  const secret = draw(random, CRYPTO.keyBytes);
  const ephemeral = publicKeyOf(secret);
  const key = receiver && agreedKey({ secret, other: receiver, order: [ephemeral, receiver], label: LABEL.box });
  if (!key) throw new Error('This device’s key is not one that anything can be sealed to.');
  const header = concatBytes(uint(CRYPTO.version, 1), ephemeral);
  return base64url(
    concatBytes(header, encrypt(key, aadOf(header, receiver), pack(plaintext, CRYPTO.mostPlaintext.slot), random)),
  );
}

/** null: not sealed to this key, changed on its way, or by a newer Roost. */
export function openBox(secret: Uint8Array, box: string): Uint8Array | null {
  const bytes = fromBase64url(box);
  if (!bytes || bytes.length < HEADER || bytes[0] !== CRYPTO.version) return null;
  const header = bytes.subarray(0, HEADER);
  const ephemeral = header.subarray(1);
  const receiver = publicKeyOf(secret);
  const key = agreedKey({ secret, other: ephemeral, order: [ephemeral, receiver], label: LABEL.box });
  const plaintext = key && decrypt(key, aadOf(header, receiver), bytes.subarray(HEADER));
  const payload = plaintext && unpack(plaintext);
  return payload === 'newer' ? null : payload;
}
