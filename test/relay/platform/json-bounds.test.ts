import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createJsonCount } from '../../../server/platform/json-bounds.ts';

interface Counted {
  readonly depth: number;
  readonly values: number;
}

/** As the limits count: a list or object counts for itself, and once where it has a value. */
function countOf(value: unknown): Counted {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 0 };
  const inside = Object.values(value).map(countOf);
  return {
    depth: 1 + Math.max(0, ...inside.map(({ depth }) => depth)),
    values: Math.max(1, inside.length) + inside.reduce((sum, { values }) => sum + values, 0),
  };
}

/** Texts with all that a search for quotation marks could take for the end of one. */
const text = fc.string({ unit: fc.constantFrom('"', '\\', '\\"', '[', '{', ',', 'a', 'ü', '\n') });
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value;

test('counts depth and values of any JSON text, whatever pieces it arrives in', () => {
  fc.assert(
    fc.property(json, fc.array(fc.nat(40), { maxLength: 8 }), (value, sizes) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const { depth, values } = countOf(value);
      const found = (bounds: Counted) => {
        const count = createJsonCount(bounds);
        let from = 0;
        for (const size of [...sizes, bytes.length]) {
          const fault = count.take(bytes, from, Math.min(bytes.length, from + size));
          if (fault !== null) return fault;
          from = Math.min(bytes.length, from + size);
        }
        return null;
      };
      expect(found({ depth, values: values + 1 })).toBeNull();
      // A text without lists and objects is one value, which no limit refuses.
      if (depth === 0) return;
      expect(found({ depth, values })).toBe('values');
      expect(found({ depth: depth - 1, values: values + 1 })).toBe('depth');
    }),
    { numRuns: 2_000 },
  );
});
