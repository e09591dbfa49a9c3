/**
 * Seals a payload to a public key, without a sender's name: version u8 | ephemeral key 32 | nonce
 * 24 | ciphertext | tag 16. Associated data: the label, version u8, ephemeral key, receiver's key.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { x25519 } from '@noble/curves/ed25519.js';
import type { RandomBytes } from '../contract.ts';
import { base64url, draw, exactly, fromBase64url, uint } from './bytes.ts';
import { CRYPTO, type Label, LABEL } from './settings.ts';
import { pack, unpack } from './plaintext.ts';

// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), with a random nonce before the ciphertext.

/** nonce 24 | ciphertext | tag 16. */
export function encrypt(key: Uint8Array, aad: Uint8Array, plaintext: Uint8Array, random: RandomBytes): Uint8Array {
  const nonce = draw(random, CRYPTO.nonceBytes);
  return concatBytes(nonce, xchacha20poly1305(key, nonce, aad).encrypt(plaintext));
}

/** Null: not made with this key and this associated data. */
export function decrypt(key: Uint8Array, aad: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < CRYPTO.nonceBytes + CRYPTO.tagBytes) return null;
  const cipher = xchacha20poly1305(key, sealed.subarray(0, CRYPTO.nonceBytes), aad);
  try {
    return cipher.decrypt(sealed.subarray(CRYPTO.nonceBytes));
  } catch {
    // The lengths are right, so the tag is wrong. The library throws for nothing else.
    return null;
  }
}

// Derives many keys from one secret: HKDF-SHA256 (RFC 5869), with a label for each purpose.

/** `salt`: empty, or the public keys of both sides of an agreement. */
export const derive = (
  secret: Uint8Array,
  label: Label,
  salt: Uint8Array = new Uint8Array(0),
  length = 32,
): Uint8Array => hkdf(sha256, secret, salt, utf8ToBytes(label), length);

// X25519 (RFC 7748). Points of low order are refused everywhere, because they make the secret
// public.

export const publicKeyOf = (secret: Uint8Array): Uint8Array => x25519.getPublicKey(secret);

/** The shared secret. Null where the public key is not 32 bytes or is of low order. */
function shared(secret: Uint8Array, publicKey: Uint8Array): Uint8Array | null {
  if (publicKey.length !== CRYPTO.keyBytes) return null;
  try {
    return x25519.getSharedSecret(secret, publicKey);
  } catch {
    // The lengths are right, so the point is of low order. The library throws for nothing else.
    return null;
  }
}

/**
 * A key that only the holders of the two secrets have. It is bound to the public data of both
 * sides, in this order.
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

const HEADER = 1 + CRYPTO.keyBytes;
const aadOf = (header: Uint8Array, receiver: Uint8Array) => concatBytes(utf8ToBytes(LABEL.box), header, receiver);

/** `boxKey`: 32 bytes as base64url. Throws for an unsound key. */
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

/** Null: not sealed to this key, changed on its way, or made by a newer Roost. */
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
