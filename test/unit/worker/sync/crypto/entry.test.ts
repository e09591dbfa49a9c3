import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digestOf,
  epochOf,
  streamOf,
  newHousehold,
  newId,
  newWriter,
  openEntry,
  renewed,
  sealEntry,
} from '../../../../../src/worker/sync/crypto/index.ts';
import { flipped, payloads, random, utf8 } from '../support.ts';

const keys = newHousehold(random);
const writer = newWriter(keys, 'talk', random);
const place = { keys, writer, counter: 7 };
const sealed = sealEntry({ ...place, payload: utf8('{"said":"good morning"}'), random });
const forged = { ok: false, reason: 'forged' };

describe('a sealed entry', () => {
  it('opens at its own place with what was put in', () => {
    fc.assert(
      fc.property(payloads, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (payload, counter) => {
        const entry = sealEntry({ ...place, counter, payload, random });
        expect(openEntry({ ...place, counter, sealed: entry })).toEqual({ ok: true, payload });
      }),
    );
  });

  // SPEC 6.1
  it('refuses an entry of another household, writer or counter', () => {
    expect(openEntry({ ...place, sealed, keys: { ...keys, household: newId(random) } })).toEqual(forged);
    expect(openEntry({ ...place, sealed, writer: newWriter(keys, 'talk', random) })).toEqual(forged);
    expect(openEntry({ ...place, sealed, counter: 8 })).toEqual(forged);
    expect(openEntry({ ...place, sealed, keys: newHousehold(random) })).toEqual(forged);
  });

  it('refuses an entry at an impossible place', () => {
    for (const counter of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
      expect(openEntry({ ...place, counter, sealed })).toEqual(forged);
      expect(() => sealEntry({ ...place, counter, payload: utf8(''), random })).toThrow(/has no place/);
    }
    expect(openEntry({ ...place, writer: 'nobody', sealed })).toEqual(forged);
  });

  // SPEC 6.4
  it('refuses an entry with any byte changed', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      expect(openEntry({ ...place, sealed: flipped(sealed, at, at % 8) }).ok).toBe(false);
    }
  });

  // SPEC 6.4
  it('refuses an entry that was cut or extended', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(openEntry({ ...place, sealed: sealed.subarray(0, length) })).toEqual(forged);
    }
    expect(openEntry({ ...place, sealed: Uint8Array.of(...sealed, 0) })).toEqual(forged);
  });

  // SPEC 6.3
  it('tells an entry of a newer Roost from a forged one, and rejects a version that never was', () => {
    expect(openEntry({ ...place, sealed: Uint8Array.of(2, ...sealed.subarray(1)) })).toEqual({
      ok: false,
      reason: 'newer-version',
    });
    expect(openEntry({ ...place, sealed: Uint8Array.of(0, ...sealed.subarray(1)) })).toEqual(forged);
  });

  // SPEC 6.3
  it('tells an entry of a key that has not arrived from a forged one', () => {
    const later = renewed(keys, random);
    const entry = sealEntry({ ...place, keys: later, payload: utf8('new'), random });
    expect(epochOf(entry)).toBe(2);
    expect(openEntry({ ...place, sealed: entry })).toEqual({ ok: false, reason: 'unknown-epoch' });
    expect(openEntry({ ...place, keys: later, sealed: entry })).toEqual({ ok: true, payload: utf8('new') });
    expect(openEntry({ ...place, keys: later, sealed }).ok).toBe(true);
  });

  // SPEC 6.2
  it('refuses an entry of another epoch', () => {
    const later = renewed(keys, random);
    expect(openEntry({ ...place, keys: later, sealed: Uint8Array.of(1, 0, 2, ...sealed.subarray(3)) })).toEqual(forged);
  });

  it('tells its epoch, unless it is of another version or too short', () => {
    expect(epochOf(sealed)).toBe(1);
    expect(epochOf(Uint8Array.of(2, ...sealed.subarray(1)))).toBeNull();
    expect(epochOf(Uint8Array.of(1, 0))).toBeNull();
  });

  // SPEC 1.4
  it('never has the same nonce twice, and never the same bytes', () => {
    const nonces = new Set<string>();
    for (let count = 0; count < 500; count += 1) {
      const entry = sealEntry({ ...place, payload: utf8('same'), random });
      nonces.add(Buffer.from(entry.subarray(3, 27)).toString('hex'));
    }
    expect(nonces.size).toBe(500);
  });

  it('does not seal when the source gives too little randomness', () => {
    expect(() => sealEntry({ ...place, payload: utf8(''), random: () => new Uint8Array(8) })).toThrow(
      'gave 8 bytes instead of 24',
    );
  });

  // SPEC 6.6
  it('names an entry by the first half of its SHA-256', () => {
    expect(digestOf(sealed)).toBe(createHash('sha256').update(sealed).digest('hex').slice(0, 32));
  });
});

describe('a writer', () => {
  // SPEC 4.1, 4.2
  it('tells its stream to the household, also after its key was renewed', () => {
    for (const stream of ['people', 'talk', 'attachments'] as const) {
      const id = newWriter(keys, stream, random);
      expect(id).toMatch(/^[\w-]{22}$/u);
      expect(streamOf(keys, id)).toBe(stream);
      expect(streamOf(renewed(keys, random), id)).toBe(stream);
    }
  });

  it('tells other households nothing', () => {
    expect(streamOf(newHousehold(random), writer)).toBeNull();
  });

  // SPEC 4.2
  it('refuses an invented writer, and one moved to another stream', () => {
    const bytes = Buffer.from(writer, 'base64url');
    for (let at = 0; at < bytes.length; at += 1)
      expect(streamOf(keys, Buffer.from(flipped(bytes, at)).toString('base64url'))).toBeNull();
    expect(streamOf(keys, newId(random))).toBeNull();
    expect(streamOf(keys, 'nobody')).toBeNull();
  });
});
