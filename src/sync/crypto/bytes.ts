/** Bytes and their texts. */
import { SYNC } from '../../protocol/sync/settings.ts';
import type { RandomBytes } from '../contract.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter.charCodeAt(0), value]));

/** Base64url without padding (RFC 4648, section 5). */
export function base64url(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const bits = (first << 16) | (second << 8) | third;
    const letters = [bits >> 18, (bits >> 12) & 63, (bits >> 6) & 63, bits & 63].map((value) => ALPHABET.charAt(value));
    pieces.push(letters.slice(0, Math.min(bytes.length - at, 3) + 1).join(''));
  }
  return pieces.join('');
}

/** The bytes of a base64url text; null where it is none. There is one text for any bytes: padding and stray bits are refused. */
export function fromBase64url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let place = 0; place < text.length; place += 1) {
    const value = VALUES.get(text.charCodeAt(place));
    if (value === undefined) return null;
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at] = (bits >> held) & 0xff;
      at += 1;
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? bytes : null;
}

/** The bytes of a text that must have so many; null where it is not that. */
export function exactly(text: string, length: number): Uint8Array | null {
  const bytes = fromBase64url(text);
  return bytes?.length === length ? bytes : null;
}

/** Fresh random bytes. Throws where the source gives another number than it was asked for. */
export function draw(random: RandomBytes, length: number): Uint8Array {
  const bytes = random(length);
  if (bytes.length !== length)
    throw new Error(`The source of randomness gave ${bytes.length} bytes instead of ${length}.`);
  return bytes;
}

/** A fresh id of a household, a device or a direct line: 16 random bytes as base64url. */
export const newId = (random: RandomBytes): string => base64url(draw(random, SYNC.idBytes));

/** The 16 bytes of an id; null where it is none. */
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
