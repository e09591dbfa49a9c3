/** Encodings of bytes as text. */
import { base32crockford, base64urlnopad, type BytesCoder } from '@scure/base';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import type { RandomBytes } from '../contract.ts';

/** Base64url without padding (RFC 4648, section 5). */
export const base64url = (bytes: Uint8Array): string => base64urlnopad.encode(bytes);

/**
 * The bytes of a base64url text. Null where it is invalid. Any bytes have exactly one text: padding
 * and stray bits are refused.
 */
export const fromBase64url = (text: string): Uint8Array | null => decoded(base64urlnopad, text);

/**
 * Crockford's Base32: letters that are not mistaken for each other, in one case, so a QR code stays
 * small.
 */
export const base32 = (bytes: Uint8Array): string => base32crockford.encode(bytes);

/**
 * Accepts any case, O for 0, and I or L for 1. Null where the text has another letter or spare
 * bits.
 */
export const fromBase32 = (text: string): Uint8Array | null => decoded(base32crockford, text);

/** The number of letters for this many bytes. */
export const base32Length = (bytes: number) => Math.ceil((bytes * 8) / 5);

/** The decoder throws only for an invalid text. */
function decoded({ decode }: BytesCoder, text: string): Uint8Array | null {
  try {
    return decode(text);
  } catch {
    return null;
  }
}

/** The bytes of a text that must have this length. Null otherwise. */
export function exactly(text: string, length: number): Uint8Array | null {
  const bytes = fromBase64url(text);
  return bytes?.length === length ? bytes : null;
}

/** Fresh random bytes. Throws where the source returns another number of bytes. */
export function draw(random: RandomBytes, length: number): Uint8Array {
  const bytes = random(length);
  if (bytes.length !== length)
    throw new Error(`The source of randomness gave ${bytes.length} bytes instead of ${length}.`);
  return bytes;
}

/** A fresh id of a household, a device or a direct connection: 16 random bytes as base64url. */
export const newId = (random: RandomBytes): string => base64url(draw(random, SYNC.idBytes));

/** The 16 bytes of an id. Null where it is invalid. */
export const idBytes = (id: string): Uint8Array | null => exactly(id, SYNC.idBytes);

/** Big-endian unsigned integers. */
export function uint(value: number, length: 1 | 2 | 4 | 8): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes.subarray(8 - length);
}
export const uint16At = (bytes: Uint8Array, at: number) =>
  new DataView(bytes.buffer, bytes.byteOffset + at, 2).getUint16(0);
export const uint32At = (bytes: Uint8Array, at: number) =>
  new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0);
