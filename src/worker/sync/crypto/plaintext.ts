/**
 * The format of a plaintext before sealing: flags u8 (bit 0: deflated) | size u32 of the payload |
 * stored u32, the length of the stored bytes | the stored bytes | zeros up to a size class.
 */
import { deflateSync, Inflate } from 'fflate';
import { concatBytes } from '@noble/hashes/utils.js';
import { uint, uint32At } from './bytes.ts';
import { CRYPTO } from './settings.ts';

const DEFLATED = 1;
const HEADER = 9;

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
  const size = padded(HEADER + stored.length);
  if (size > most) throw new RangeError(`What is to be sealed takes ${size} bytes; at most ${most} can be sent.`);
  const whole = new Uint8Array(size);
  whole.set(concatBytes(uint(smaller ? DEFLATED : 0, 1), uint(payload.length, 4), uint(stored.length, 4)));
  whole.set(stored, HEADER);
  return whole;
}

/**
 * `newer`: written by a newer Roost. Null: not of this format. Never holds more in memory than the
 * declared size, which has a limit.
 */
export function unpack(plaintext: Uint8Array): Uint8Array | 'newer' | null {
  const flags = plaintext[0];
  if (flags === undefined || plaintext.length < HEADER) return null;
  if (flags > DEFLATED) return 'newer';
  const size = uint32At(plaintext, 1);
  const storedSize = uint32At(plaintext, 5);
  if (size > CRYPTO.mostPayload || plaintext.length !== padded(HEADER + storedSize)) return null;
  const end = HEADER + storedSize;
  if (plaintext.subarray(end).some((byte) => byte !== 0)) return null;
  const stored = plaintext.subarray(HEADER, end);
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
