import * as cbor from '@ipld/dag-cbor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeepEqual } from '../../../../src/worker/ledger/equal.ts';
import { plainDocument } from '../../../../src/worker/ledger/ledger.ts';
import { LEDGER } from '../../../../src/worker/ledger/settings.ts';
import {
  decodeDocuments,
  decodeId,
  encodeDocument,
  encodeId,
  isPartId,
  type StoredDoc,
} from '../../../../src/worker/ledger/volumes/codec.ts';

/** Any UTF-16 code units, halves of surrogate pairs and control characters among them. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0x10, 0xd800, 0xdc00, 0xfeff, 0x7e, 0x25)), {
    maxLength: 30,
  })
  .map((units) => String.fromCharCode(...units));
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    anyText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(anyText, fc.constantFrom('_files', '_deleted', '__proto__', '', '/')), tie('value'), {
      maxKeys: 4,
    }),
  ),
}));
const anyId = anyText.filter((text) => text !== '');
const document = (_id: string, more: Record<string, unknown>) =>
  plainDocument({ ...more, _id, type: 'something-new', schema: 1, at: '000000000000001-000000-test' });

/** Through the encoding that Fireproof uses, and back. */
const throughFireproof = (stored: readonly StoredDoc[]): StoredDoc[] =>
  stored.map((doc) => {
    const { _id, ...fields } = cbor.decode<StoredDoc>(cbor.encode(doc));
    return { ...fields, _id };
  });

describe('documents in a volume', () => {
  it('come back exactly as they were, whatever they hold', () => {
    fc.assert(
      fc.property(anyId, fc.dictionary(fc.string(), anyValue), (id, more) => {
        const doc = document(id, more);
        const { docs, damaged } = decodeDocuments(throughFireproof(encodeDocument(doc)));
        expect(damaged).toEqual([]);
        expect(docs).toHaveLength(1);
        expect(isDeepEqual(docs[0], doc)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('keep a byte order mark wherever it stands, as what was saved on Windows has it', () => {
    const long = `\ufeffa${'\ufeff'.repeat(LEDGER.partChars + 10)}`;
    const doc = document('message:m1', { text: '\ufeffDear Lyra', '\ufeffkey': ['a\ufeff', '\ufeff'], long });
    const { docs, damaged } = decodeDocuments(throughFireproof(encodeDocument(doc)));
    expect(damaged).toEqual([]);
    expect(isDeepEqual(docs[0], doc)).toBe(true);
  });

  it('stores documents unchanged when nothing needs an escape', () => {
    const doc = document('message:m1', { text: 'grüße, 🪺\n"</soul>"', list: [1, { deep: true }] });
    expect(encodeDocument(doc)).toEqual([doc]);
  });

  it('keep to ids that Fireproof can sort, and get theirs back', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const encoded = encodeId(id);
        expect(encoded).toMatch(/^[A-Za-z0-9_.:%-]+$/);
        expect(isPartId(encoded)).toBe(false);
        expect(decodeId(encoded)).toBe(id);
      }),
    );
    expect(encodeId('message:01J_x.y-z')).toBe('message:01J_x.y-z');
  });

  it('splits long texts into parts within the limit, and cuts no surrogate pair', () => {
    const long = `a${'🪺'.repeat(LEDGER.partChars)}\ud800`;
    const doc = document('long', { soul: long, short: 'x', twice: [long] });
    const stored = encodeDocument(doc);
    const parts = stored.filter(({ _id }) => isPartId(_id));
    expect(parts.length).toBeGreaterThan(4);
    expect(stored.at(-1)?._id).toBe('long');
    for (const { text } of parts) {
      expect(String(text).length).toBeLessThanOrEqual(LEDGER.partChars);
      expect(String(text)).not.toMatch(/[\ud800-\udbff]$|^[\udc00-\udfff]/);
    }
    expect(decodeDocuments(throughFireproof(stored)).docs).toEqual([doc]);
  });

  it('reports a document with a missing part as damaged, with the reason', () => {
    const stored = encodeDocument(document('long', { soul: 'x'.repeat(LEDGER.partChars * 2) }));
    const { docs, damaged } = decodeDocuments(stored.filter(({ _id }) => _id !== 'long~1'));
    expect(docs).toEqual([]);
    expect(damaged).toEqual([{ id: 'long', reason: 'part 1 is missing' }]);
  });
});

describe('plain documents', () => {
  const base = { _id: 'x', type: 'y', schema: 1, at: '000000000000001-000000-test' };
  it('lose what JSON would lose, and nothing else', () => {
    expect(plainDocument({ ...base, gone: undefined, list: [undefined, -0], zero: -0 })).toEqual({
      ...base,
      list: [null, 0],
      zero: 0,
    });
  });
  it.each([
    ['a number that is none', { ...base, deep: { n: [1, Number.NaN] } }, /document\.deep\.n\[1\] is NaN/],
    ['a function', { ...base, f: () => 1 }, /document\.f is a function/],
    ['no id', { ...base, _id: '' }, /_id/],
    ['a message without its fields', { ...base, type: 'message' }, /messageId/],
    ['nothing at all', null, /expected object/],
  ])('makes no plain document of %s', (_what, value, reason) => {
    expect(() => plainDocument(value)).toThrow(reason);
  });
});
