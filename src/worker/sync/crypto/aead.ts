/** XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random nonce before the ciphertext. */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { concatBytes } from '@noble/hashes/utils.js';
import type { RandomBytes } from '../contract.ts';
import { draw } from './bytes.ts';
import { CRYPTO } from './settings.ts';

/** nonce 24 | ciphertext | tag 16. */
export function encrypt(key: Uint8Array, aad: Uint8Array, plaintext: Uint8Array, random: RandomBytes): Uint8Array {
  const nonce = draw(random, CRYPTO.nonceBytes);
  return concatBytes(nonce, xchacha20poly1305(key, nonce, aad).encrypt(plaintext));
}

/** null: not made with this key and this associated data. */
export function decrypt(key: Uint8Array, aad: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < CRYPTO.nonceBytes + CRYPTO.tagBytes) return null;
  const cipher = xchacha20poly1305(key, sealed.subarray(0, CRYPTO.nonceBytes), aad);
  try {
    return cipher.decrypt(sealed.subarray(CRYPTO.nonceBytes));
  } catch {
    // Lengths are right, so the tag is wrong: the only other thing that the library throws for.
    return null;
  }
}
