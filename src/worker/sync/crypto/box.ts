/**
 * Seals a payload to a public key, without a sender's name: version u8 | ephemeral key 32 | nonce
 * 24 | ciphertext | tag 16. Associated data: the label, version u8, ephemeral key, receiver's key.
 */
import { deflateSync, Inflate } from 'fflate';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { x25519 } from '@noble/curves/ed25519.js';
import type { RandomBytes } from '../contract.ts';
import { base64url, draw, exactly, fromBase64url, uint, uint32At } from './bytes.ts';
import { CRYPTO, type Label, LABEL } from './settings.ts';

// The format of a plaintext before sealing: flags u8 (bit 0: deflated) | size u32 of the payload |
// stored u32, the length of the stored bytes | the stored bytes | zeros up to a size class.

const DEFLATED = 1;
const PLAINTEXT_HEADER = 9;

const floorLog2 = (value: number) => 31 - Math.clz32(value);

/**
 * The size class of a length: Padmé (Nikitin et al., "Reducing Metadata Leakage from Encrypted
 * Files and Communication with PURBs", 2019), but at least 256. It adds at most 12 %, and leaks
 * only log log n bits of a length n.
 */
export function padded(length: number): number {
  if (length <= CRYPTO.leastPadded) return CRYPTO.leastPadded;
  const exponent = floorLog2(length);
  const step = 2 ** (exponent - floorLog2(exponent) - 1);
  return Math.ceil(length / step) * step;
}

/**
 * Throws a RangeError where the payload is larger than `unpack` accepts, or where it exceeds
 * `most`, the largest size that can be sent, with its padding.
 */
export function pack(payload: Uint8Array, most: number): Uint8Array {
  if (payload.length > CRYPTO.mostPayload) {
    throw new RangeError(`There are ${payload.length} bytes to seal; at most ${CRYPTO.mostPayload} go in one piece.`);
  }
  const deflated = deflateSync(payload);
  const smaller = deflated.length < payload.length;
  const stored = smaller ? deflated : payload;
  const size = padded(PLAINTEXT_HEADER + stored.length);
  if (size > most) throw new RangeError(`What is to be sealed takes ${size} bytes; at most ${most} can be sent.`);
  const whole = new Uint8Array(size);
  whole.set(concatBytes(uint(smaller ? DEFLATED : 0, 1), uint(payload.length, 4), uint(stored.length, 4)));
  whole.set(stored, PLAINTEXT_HEADER);
  return whole;
}

/**
 * `newer`: written by a newer Roost. Null: not of this format. Never holds more in memory than the
 * declared size, which has a limit.
 */
export function unpack(plaintext: Uint8Array): Uint8Array | 'newer' | null {
  const flags = plaintext[0];
  if (flags === undefined || plaintext.length < PLAINTEXT_HEADER) return null;
  if (flags > DEFLATED) return 'newer';
  const size = uint32At(plaintext, 1);
  const storedSize = uint32At(plaintext, 5);
  if (size > CRYPTO.mostPayload || plaintext.length !== padded(PLAINTEXT_HEADER + storedSize)) return null;
  const end = PLAINTEXT_HEADER + storedSize;
  if (plaintext.subarray(end).some((byte) => byte !== 0)) return null;
  const stored = plaintext.subarray(PLAINTEXT_HEADER, end);
  if (flags === DEFLATED) return storedSize < size ? inflated(stored, size) : null;
  return size === storedSize ? stored.slice() : null;
}

/** Exactly `size` bytes, or null. Stops as soon as there are more. */
function inflated(stored: Uint8Array, size: number): Uint8Array | null {
  const payload = new Uint8Array(size);
  let at = 0;
  const stream = new Inflate((piece) => {
    if (at + piece.length <= size) payload.set(piece, at);
    at += piece.length;
  });
  try {
    for (let from = 0; from < stored.length && at <= size; from += CRYPTO.inflateStep) {
      const to = from + CRYPTO.inflateStep;
      stream.push(stored.subarray(from, to), to >= stored.length);
    }
  } catch {
    // Not deflated data.
    return null;
  }
  return at === size ? payload : null;
}

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
  if (!key) throw new Error('Nothing can be sealed to this device’s key.');
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
