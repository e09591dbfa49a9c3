/**
 * Sealed entries as a file holds them, one frame behind the other:
 *
 *     52 53 45 31 | length u32 | CRC-32 u32 of what follows | writer 16 | counter u64 | sealed
 *
 * `length` counts from the writer on. Integers are big-endian. What is cut short, flipped or
 * overwritten costs the frames it lies in: the next one is found by its first four bytes, and
 * believed by its sum.
 */
import { createCrc32 } from '../../../shared/domain/crc32.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import { base64url, fromBase64url } from '../crypto/index.ts';

const MAGIC = 0x52534531;
const HEADER = 12;
const PLACE = 24;
/** An entry is never so long: a length above this is damage. */
const LONGEST = 32 * 1024 * 1024;

const crcOf = (bytes: Uint8Array) => {
  const crc = createCrc32();
  crc.update(bytes);
  return crc.value();
};

/** Throws where a writer is no id, which no parser lets pass. */
export function encodeFrames(entries: readonly Entry[]): Uint8Array {
  const all = new Uint8Array(entries.reduce((sum, { sealed }) => sum + HEADER + PLACE + sealed.length, 0));
  const view = new DataView(all.buffer);
  let at = 0;
  for (const { writer, counter, sealed } of entries) {
    const id = fromBase64url(writer);
    if (id?.length !== 16) throw new RangeError(`“${writer}” is no writer.`);
    const length = PLACE + sealed.length;
    all.set(id, at + HEADER);
    view.setBigUint64(at + HEADER + 16, BigInt(counter));
    all.set(sealed, at + HEADER + PLACE);
    view.setUint32(at, MAGIC);
    view.setUint32(at + 4, length);
    view.setUint32(at + 8, crcOf(all.subarray(at + HEADER, at + HEADER + length)));
    at += HEADER + length;
  }
  return all;
}

export interface DecodedFrames {
  readonly entries: readonly Entry[];
  /** Bytes that belong to no whole frame. */
  readonly damaged: number;
}

/** Everything that is whole, in its order. Never throws. */
export function decodeFrames(bytes: Uint8Array): DecodedFrames {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Entry[] = [];
  let damaged = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = at + HEADER <= bytes.length && view.getUint32(at) === MAGIC ? view.getUint32(at + 4) : 0;
    const end = at + HEADER + length;
    if (
      length >= PLACE &&
      length <= LONGEST &&
      end <= bytes.length &&
      crcOf(bytes.subarray(at + HEADER, end)) === view.getUint32(at + 8)
    ) {
      const counter = Number(view.getBigUint64(at + HEADER + 16));
      entries.push({
        writer: base64url(bytes.subarray(at + HEADER, at + HEADER + 16)),
        counter,
        sealed: bytes.slice(at + HEADER + PLACE, end),
      });
      at = end;
      continue;
    }
    const next = nextMagic(view, at + 1);
    damaged += next - at;
    at = next;
  }
  return { entries, damaged };
}

function nextMagic(view: DataView, from: number): number {
  for (let at = from; at + 4 <= view.byteLength; at++)
    if (view.getUint8(at) === MAGIC >>> 24 && view.getUint32(at) === MAGIC) return at;
  return view.byteLength;
}
