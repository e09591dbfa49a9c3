/** Numbers in as few bytes as they need (LEB128), and the check of what was stored. */
import { createCrc32 } from '../../shared/domain/crc32.ts';

/** What is stored is not what was written: the index is thrown away and made anew. */
export class DamagedIndexError extends Error {
  override readonly name = 'DamagedIndexError';
}

export interface ByteWriter {
  number(value: number): void;
  /** As it stands in another. */
  bytes(value: Uint8Array): void;
  length(): number;
  /** What was written since the last time, as bytes of its own. */
  take(): Uint8Array<ArrayBuffer>;
}

export function createByteWriter(): ByteWriter {
  let held = new Uint8Array(1_024);
  let length = 0;
  const room = (more: number) => {
    if (length + more <= held.length) return;
    const larger = new Uint8Array(Math.max(held.length * 2, length + more));
    larger.set(held.subarray(0, length));
    held = larger;
  };
  return {
    number(value) {
      room(5);
      let left = value;
      while (left > 0x7f) {
        held[length++] = (left & 0x7f) | 0x80;
        left >>>= 7;
      }
      held[length++] = left;
    },
    bytes(value) {
      room(value.length);
      held.set(value, length);
      length += value.length;
    },
    length: () => length,
    take() {
      const taken = held.slice(0, length);
      length = 0;
      return taken;
    },
  };
}

export interface ByteReader {
  /** Below 2^32. Throws a DamagedIndexError at the end of the bytes. */
  number(): number;
  at(): number;
  atEnd(): boolean;
}

export function createByteReader(bytes: Uint8Array, from = 0, to = bytes.length): ByteReader {
  let at = from;
  return {
    number() {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = at < to ? bytes[at++] : undefined;
        if (byte === undefined || shift > 28) throw new DamagedIndexError('A part of the index ends too early.');
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value >>> 0;
      }
    },
    at: () => at,
    atEnd: () => at >= to,
  };
}

/** The bytes with their check behind them. */
export function sealed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const crc = createCrc32();
  crc.update(bytes);
  const all = new Uint8Array(bytes.length + 4);
  all.set(bytes);
  new DataView(all.buffer).setUint32(bytes.length, crc.value());
  return all;
}

/** Without their check. Throws a DamagedIndexError where it does not fit. */
export function unsealed(all: unknown): Uint8Array {
  if (!(all instanceof Uint8Array) || all.length < 4) throw new DamagedIndexError('A part of the index is missing.');
  const bytes = all.subarray(0, all.length - 4);
  const crc = createCrc32();
  crc.update(bytes);
  if (new DataView(all.buffer, all.byteOffset).getUint32(bytes.length) !== crc.value())
    throw new DamagedIndexError('A part of the index is not as it was written.');
  return bytes;
}

/** 53 bits that tell ids apart. */
export function hashOf(id: string): number {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
    b = (b << 13) | (b >>> 19);
  }
  a ^= b >>> 15;
  b = Math.imul(b ^ (a >>> 16), 0xc2b2ae35);
  return (a >>> 0) * 0x200000 + ((b ^ (b >>> 13)) & 0x1fffff);
}
