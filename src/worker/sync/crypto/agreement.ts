/**
 * X25519 (RFC 7748). Points of low order are refused everywhere: with them the secret would be
 * known to all.
 */
import { x25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { derive } from './derive.ts';
import { CRYPTO, type Label } from './settings.ts';

export const publicKeyOf = (secret: Uint8Array): Uint8Array => x25519.getPublicKey(secret);

/** The shared secret; null where the public key is not 32 bytes or of low order. */
function shared(secret: Uint8Array, publicKey: Uint8Array): Uint8Array | null {
  if (publicKey.length !== CRYPTO.keyBytes) return null;
  try {
    return x25519.getSharedSecret(secret, publicKey);
  } catch {
    // Lengths are right, so the point is of low order: the only other thing that the library throws
    // for.
    return null;
  }
}

/**
 * A key that only the holders of the two secrets have, bound to what both sides show, in this
 * order.
 */
export function agreedKey(options: {
  readonly secret: Uint8Array;
  readonly other: Uint8Array;
  readonly order: readonly [Uint8Array, Uint8Array];
  readonly label: Label;
}): Uint8Array | null {
  const secret = shared(options.secret, options.other);
  return secret && derive(secret, options.label, concatBytes(...options.order));
}

const PROBE = new Uint8Array(CRYPTO.keyBytes).fill(8);

/** Can a secret be agreed on with this key? */
export const isSoundKey = (publicKey: Uint8Array): boolean => shared(PROBE, publicKey) !== null;
