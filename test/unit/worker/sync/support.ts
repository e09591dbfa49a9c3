/** What the tests of the cryptography share. */
import { randomFillSync } from 'node:crypto';
import fc from 'fast-check';
import type { RandomBytes } from '../../../../src/worker/sync/contract.ts';

export const random: RandomBytes = (length) => randomFillSync(new Uint8Array(length));

export const utf8 = (text: string) => new TextEncoder().encode(text);
export const text = (bytes: Uint8Array | null) => (bytes === null ? null : new TextDecoder().decode(bytes));

/** The bytes with one bit of one of them turned. */
export function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

export const payloads = fc.uint8Array({ maxLength: 2_000 });
