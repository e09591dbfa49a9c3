import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64url, fromBase64url, newId } from '../../../../../src/worker/sync/crypto/index.ts';
import { random } from '../support.ts';

describe('base64url', () => {
  it('encodes as Node does, and decodes it again', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(base64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
        expect(fromBase64url(base64url(bytes))).toEqual(bytes);
      }),
    );
  });

  // SPEC 1.2
  it('accepts only the one text of given bytes', () => {
    for (const text of ['A', 'AAAAA', 'AA==', 'AB', 'AAB', 'A A', 'AA+A', 'AA/A', 'ÄAAA'])
      expect(fromBase64url(text), text).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const bytes = fromBase64url(text);
        return bytes === null || base64url(bytes) === text;
      }),
    );
  });

  // SPEC 1.3
  it('makes ids of 22 characters, all different', () => {
    const ids = Array.from({ length: 100 }, () => newId(random));
    expect(ids.every((id) => /^[\w-]{22}$/u.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(100);
  });
});
