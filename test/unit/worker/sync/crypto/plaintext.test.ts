import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deviceKeys,
  newHousehold,
  newWriter,
  openEntry,
  sealBox,
  sealEntry,
} from '../../../../../src/worker/sync/crypto/index.ts';
import { pack, padded, unpack } from '../../../../../src/worker/sync/crypto/box.ts';
import { SYNC } from '../../../../../src/shared/protocol/sync/settings.ts';
import { payloads, random, utf8 } from '../support.ts';

/** A plaintext as somebody with the key could make it. */
function plaintext(flags: number, size: number, stored: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(padded(9 + stored.length));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, flags);
  view.setUint32(1, size);
  view.setUint32(5, stored.length);
  bytes.set(stored, 9);
  return bytes;
}

describe('what is sealed', () => {
  it('unpacks any content to what was packed', () => {
    fc.assert(
      fc.property(fc.oneof(payloads, fc.string({ maxLength: 5_000 }).map(utf8)), (payload) => {
        expect(unpack(pack(payload, Infinity))).toEqual(payload);
      }),
    );
  });

  // SPEC 5.2
  it('deflates content when that makes it smaller', () => {
    expect(pack(utf8('good morning '.repeat(1_000)), Infinity).length).toBe(256);
    expect(pack(random(1_000), Infinity)[0]).toBe(0);
  });

  // SPEC 5.4
  it('pads to one of few sizes, by an eighth at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 256, max: SYNC.entryBytes }), (length) => {
        const size = padded(length);
        expect(size).toBeGreaterThanOrEqual(length);
        expect(size).toBeLessThanOrEqual(length * 1.125);
        expect(padded(size)).toBe(size);
        expect(padded(length + 1)).toBeGreaterThanOrEqual(size);
      }),
    );
    expect([0, 1, 256].map(padded)).toEqual([256, 256, 256]);
    expect(new Set(Array.from({ length: 65_536 }, (_, length) => padded(length))).size).toBeLessThan(150);
  });

  // SPEC 5.4
  it('gives all short content the same size', () => {
    const sizes = ['', 'yes', 'a'.repeat(200)].map((said) => pack(utf8(said), Infinity).length);
    expect(new Set(sizes)).toEqual(new Set([256]));
  });

  // SPEC 5.5
  it('refuses content whose declared sizes do not fit', () => {
    const stored = utf8('twelve bytes');
    expect(unpack(plaintext(0, 12, stored))).toEqual(stored);
    expect(unpack(plaintext(0, 11, stored))).toBeNull();
    expect(unpack(plaintext(0, 13, stored))).toBeNull();
    expect(unpack(plaintext(0, 12, stored).subarray(0, 255))).toBeNull();
    expect(unpack(plaintext(0, 12, stored).fill(1, 200))).toBeNull();
    expect(unpack(new Uint8Array(8))).toBeNull();
    expect(unpack(new Uint8Array(0))).toBeNull();
  });

  // SPEC 5.3
  it('tells content of a newer Roost, with an unknown flag, from a damaged one', () => {
    expect(unpack(plaintext(2, 0, new Uint8Array(0)))).toBe('newer');
  });

  // SPEC 5.5, 5.6
  it('inflates no further than the declared size and the limit', () => {
    const bomb = deflateRawSync(new Uint8Array(4 * 1024 * 1024));
    expect(unpack(plaintext(1, 100, bomb))).toBeNull();
    expect(unpack(plaintext(1, SYNC.entryBytes + 1, bomb))).toBeNull();
    expect(unpack(plaintext(1, 1, utf8('this is not deflated')))).toBeNull();
    const cut = deflateRawSync(utf8('good morning '.repeat(50)));
    expect(unpack(plaintext(1, 650, cut))).toEqual(utf8('good morning '.repeat(50)));
    expect(unpack(plaintext(1, 650, cut.subarray(0, -3)))).toBeNull();
    expect(unpack(plaintext(1, 651, cut))).toBeNull();
    expect(unpack(plaintext(1, 0, new Uint8Array(0)))).toBeNull();
  });
});

describe('sizes of entries', () => {
  const keys = newHousehold(random);
  const place = { keys, writer: newWriter(keys, 'talk', random), counter: 1 };
  const sizeOf = (payload: Uint8Array) => sealEntry({ ...place, payload, random }).length;

  // SPEC 6.5
  it('a document of 240 bytes takes less than 500, deflated or not', () => {
    expect(sizeOf(random(240))).toBe(299);
    expect(sizeOf(utf8('x'.repeat(240)))).toBe(299);
  });

  // SPEC 5.6
  it('seals and opens nothing and 16 MB alike', () => {
    for (const payload of [new Uint8Array(0), new Uint8Array(SYNC.entryBytes).fill(7)]) {
      const opened = openEntry({ ...place, sealed: sealEntry({ ...place, payload, random }) });
      expect(opened.ok && Buffer.compare(opened.payload, payload) === 0).toBe(true);
    }
  });

  it('refuses to seal content that is too large to send', () => {
    expect(() => sizeOf(new Uint8Array(SYNC.entryBytes + 1))).toThrow('at most 16777216 go in one piece');
    expect(() => pack(random(1_000), 1_024)).not.toThrow();
    expect(() => pack(random(1_020), 1_024)).toThrow('takes 1088 bytes; at most 1024 can be sent');
    const { boxKey } = deviceKeys(random(32));
    expect(() => sealBox(boxKey, random(SYNC.slotChars), random)).toThrow('can be sent');
    expect(sealBox(boxKey, random(180_000), random).length).toBeLessThanOrEqual(SYNC.slotChars);
  });
});
